// CancelRequests of clients, and those the proxy sends for clients that went away.
#include <gmock/gmock.h>

#include "tests/unit/session/data_plane_fixture.hpp"

namespace ledgergate::test {
namespace {

using session::session_result;

struct Cancelling : DataPlane {};

TEST_F(Cancelling, ReachesTheSessionsServerAndEndsOnlyWhenThatHasActed) {
  start();
  auto [client, server] = establish();
  test_peer canceller = connect();
  canceller.send(cancel_packet(backend_key));
  test_peer at_server = accept();
  EXPECT_EQ(at_server.receive(16), cancel_packet(backend_key));
  EXPECT_FALSE(readable(canceller.fd(), 0ms));
  at_server.close();
  EXPECT_EQ(canceller.receive_all(), "");
}

TEST_F(Cancelling, AnUnknownKeyIsClosedWithoutAWord) {
  start();
  test_peer canceller = connect();
  canceller.send(cancel_packet("\1\1\1\1none"));
  EXPECT_EQ(canceller.receive_all(), "");
  EXPECT_FALSE(server_was_contacted());
}

TEST_F(Cancelling, TheKeyOfASessionThatEndedIsUnknown) {
  start();
  auto [client, server] = establish();
  client.send(message('X', ""));
  EXPECT_EQ(server.receive_all(), message('X', ""));
  ASSERT_TRUE(eventually([&] { return ended(session_result::completed) == 1; }));
  test_peer canceller = connect();
  canceller.send(cancel_packet(backend_key));
  EXPECT_EQ(canceller.receive_all(), "");
  EXPECT_FALSE(server_was_contacted());
}

TEST_F(Cancelling, AStormIsCarriedOutAFewAtATimeAndForAll) {
  start();
  auto [client, server] = establish();
  std::vector<test_peer> storm;
  for (int i = 0; i < 200; ++i) {
    storm.push_back(connect());
    storm.back().send(cancel_packet(backend_key));
  }
  for (int i = 0; i < 200; ++i) {
    test_peer at_server = accept();
    EXPECT_EQ(at_server.receive(16), cancel_packet(backend_key));
  }
  for (test_peer& each : storm)
    EXPECT_EQ(each.receive_all(), "");
  client.send(query("select 1"));
  EXPECT_EQ(server.receive(query("select 1").size()), query("select 1"));
}

struct Vanishing : DataPlane, testing::WithParamInterface<transport> {};

TEST_P(Vanishing, ARunningStatementIsCancelledAtOnce) {
  start();
  auto [client, server] = establish("gated", GetParam());
  client.send(query("select 1"));
  server.receive(query("select 1").size());
  client.close();
  test_peer canceller = accept();
  EXPECT_EQ(canceller.receive(16), cancel_packet(backend_key));
  canceller.close();
  EXPECT_EQ(server.receive_all(), "");
  server.close();
  EXPECT_TRUE(eventually([&] { return ended(session_result::client_lost) == 1; }));
}

TEST_P(Vanishing, TheCancelIsRepeatedUntilTheServerHasLetGo) {
  start();
  auto [client, server] = establish("gated", GetParam());
  client.send(query("select 1"));
  server.receive(query("select 1").size());
  client.close();
  for (int i = 0; i < 3; ++i) {
    test_peer canceller = accept();
    EXPECT_EQ(canceller.receive(16), cancel_packet(backend_key));
  }
  server.close();
  EXPECT_TRUE(eventually([&] { return plane->connections() == 0; }));
}

TEST_P(Vanishing, AnIdleClientOnlyClosesItsServer) {
  start();
  auto [client, server] = establish("gated", GetParam());
  client.close();
  EXPECT_EQ(server.receive_all(), "");
  EXPECT_TRUE(eventually([&] { return plane->connections() == 0; }));
  EXPECT_FALSE(server_was_contacted());
}

TEST_P(Vanishing, AHalfClosedClientGetsItsFullAnswer) {
  start();
  auto [client, server] = establish("gated", GetParam());
  client.send(query("select 1"));
  client.shut_write();
  server.receive(query("select 1").size());
  // In two parts, so that the client is looked at in between.
  const std::string row = message('D', "row");
  server.send(row);
  EXPECT_EQ(client.receive(row.size()), row);
  server.send(answer('I'));
  EXPECT_EQ(client.receive(answer('I').size()), answer('I'));
  EXPECT_EQ(server.receive_all(), "") << "the FIN follows the answer";
  server.close();
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_FALSE(server_was_contacted());
}

TEST_P(Vanishing, AHalfClosedUngatedClientGetsItsFullAnswer) {
  start();
  auto [client, server] = establish("other", GetParam());
  client.send(query("select 1"));
  client.shut_write();
  EXPECT_EQ(server.receive_all(), query("select 1")) << "without the engine the FIN is sent on at once";
  server.send(answer('I'));
  server.close();
  EXPECT_EQ(client.receive_all(), answer('I'));
}

INSTANTIATE_TEST_SUITE_P(Transports, Vanishing, testing::Values(transport::tcp, transport::unix_socket),
                         [](const auto& about) { return about.param == transport::tcp ? "Tcp" : "Unix"; });

TEST_F(Cancelling, AResetClientIsCancelledToo) {
  start();
  auto [client, server] = establish();
  client.send(query("select 1"));
  server.receive(query("select 1").size());
  client.reset();
  EXPECT_EQ(accept().receive(16), cancel_packet(backend_key));
}

TEST_F(Cancelling, AClientThatSaidGoodbyeMayFinishWhatItSent) {
  start();
  auto [client, server] = establish();
  const std::string both = query("select 1") + message('X', "");
  client.send(both);
  client.close();
  EXPECT_EQ(server.receive(both.size()), both);
  server.send(answer('I'));
  server.close();
  EXPECT_TRUE(eventually([&] { return ended(session_result::completed) == 1; }));
  EXPECT_FALSE(server_was_contacted());
}

TEST_F(Cancelling, AGoodbyeCountsAlsoWhileTheStatementInFrontOfItIsHeldBack) {
  settings.gate.mode = config::gate_mode::enforce;
  start();
  auto [client, server] = establish();
  client.send(query("insert into ledger values (1)") + message('X', ""));
  client.close();
  // Whatever the gate wants to know or take first is granted, until the client's own text comes.
  std::string got;
  while (got.find("insert into ledger") == std::string::npos) {
    got = server.receive_message();
    ASSERT_NE(got, "") << "the statement was given up";
    if (got[0] == 'F') server.send(message('V', std::string("\0\0\0\x0eread committed", 18)) + ready('I'));
  }
  EXPECT_FALSE(server_was_contacted()) << "it was cancelled";
}

} // namespace
} // namespace ledgergate::test
