// How sessions end: by the server, by shutdown; and that nothing is left behind.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/unit/session/data_plane_fixture.hpp"

namespace ledgergate::test {
namespace {

using session::session_result;
using testing::HasSubstr;

struct Ending : DataPlane {};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

const std::string last_words = message('E', std::string("SFATAL\0C57P01\0Mbye\0\0", 20));

TEST_F(Ending, TheServersLastWordsArriveBeforeTheEnd) {
  start();
  auto [client, server] = establish();
  server.send(last_words);
  server.close();
  EXPECT_EQ(client.receive_all(), last_words);
}

TEST_F(Ending, LastWordsArriveAlsoWhenTheClientIsSending) {
  start();
  auto [client, server] = establish("other");
  client.send(query("select 1"));
  server.receive(query("select 1").size());
  server.send(last_words);
  server.shut_write();
  client.send(query("select 2"));
  EXPECT_EQ(client.receive_all(), last_words);
}

TEST_F(Ending, AResetByTheServerEndsTheClient) {
  start();
  auto [client, server] = establish();
  server.reset();
  EXPECT_EQ(client.receive_all(), "");
  client.close();
  EXPECT_TRUE(eventually([&] { return ended(session_result::server_closed) == 1; }));
}

TEST_F(Ending, AServerThatMakesNoSenseEndsBothSides) {
  start();
  auto [client, server] = establish();
  client.send(query("select 1"));
  server.receive(query("select 1").size());
  server.send(std::string("C\0\0\0\1", 5));
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(server.receive_all(), "");
}

TEST_F(Ending, DrainTellsIdleSessionsAndLeavesBusyOnesUntilTheyAreIdle) {
  start();
  auto [idle, idle_server] = establish();
  auto [busy, busy_server] = establish();
  auto [inside, inside_server] = establish();
  busy.send(query("select 1"));
  busy_server.receive(query("select 1").size());
  inside.send(query("begin"));
  inside_server.receive(query("begin").size());
  inside_server.send(answer('T'));
  EXPECT_EQ(inside.receive_until_ready(), answer('T'));

  plane->drain();
  EXPECT_THAT(idle.receive_all(), HasSubstr("C57P01"));
  EXPECT_EQ(idle_server.receive_all(), "");

  busy_server.send(answer('I'));
  const std::string words = busy.receive_all();
  EXPECT_EQ(words.substr(0, answer('I').size()), answer('I'));
  EXPECT_THAT(words, HasSubstr("C57P01"));

  EXPECT_FALSE(readable(inside.fd(), 0ms)) << "a transaction is not cut off";
  inside.send(query("commit"));
  EXPECT_EQ(inside_server.receive(query("commit").size()), query("commit"));
  inside_server.send(answer('I'));
  EXPECT_THAT(inside.receive_all(), HasSubstr("C57P01"));
}

TEST_F(Ending, DrainKnowsIdleUngatedSessionsByTheServersLastMessage) {
  start();
  auto [idle, idle_server] = establish("other");
  auto [inside, inside_server] = establish("other");
  inside.send(query("begin"));
  inside_server.receive(query("begin").size());
  inside_server.send(answer('T'));
  EXPECT_EQ(inside.receive_until_ready(), answer('T'));
  plane->drain();
  EXPECT_THAT(idle.receive_all(), HasSubstr("C57P01"));
  EXPECT_FALSE(readable(inside.fd(), 0ms));
  inside.send(query("commit"));
  inside_server.receive(query("commit").size());
  inside_server.send(answer('I'));
  EXPECT_THAT(inside.receive_all(), HasSubstr("C57P01"));
}

TEST_F(Ending, ClientsThatComeDuringDrainAreRefused) {
  start();
  plane->drain();
  test_peer client = connect();
  client.send(startup_packet("gated"));
  // Either it was closed before it spoke, or it was told why.
  const std::string words = client.receive_all();
  EXPECT_TRUE(words.empty() || words.find("C57P03") != std::string::npos) << words;
  EXPECT_FALSE(server_was_contacted());
}

struct EndingOf : DataPlane, testing::WithParamInterface<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(GatedAndNot, EndingOf, testing::Values("gated", "other"));

TEST_P(EndingOf, SessionsCancelsWhatStillRuns) {
  start();
  auto [client, server] = establish(GetParam());
  client.send(query("select 1"));
  server.receive(query("select 1").size());
  plane->end_sessions();
  EXPECT_EQ(accept().receive(16), cancel_packet(backend_key));
  EXPECT_EQ(client.receive_all(), "");
  server.close();
  EXPECT_TRUE(eventually([&] { return plane->connections() == 0; }));
}

TEST_F(Ending, NothingIsLeftOpenAfterSessionsOfEveryKind) {
  start();
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    auto [left, left_server] = establish();
    left.send(message('X', ""));
    auto [lost, lost_server] = establish();
    lost.reset();
    auto [dropped, dropped_server] = establish("other");
    dropped_server.reset();
    test_peer probe = connect();
    test_peer refused = connect();
    refused.send("GET / HTTP/1.1\r\n");
    test_peer canceller = connect();
    canceller.send(cancel_packet("unknown key"));
  }
  EXPECT_TRUE(eventually([&] { return plane->connections() == 0 && open_descriptors() == before; }))
      << open_descriptors() << " descriptors now, " << before << " before";
  EXPECT_EQ(registry->clients(), 0U);
}

} // namespace
} // namespace ledgergate::test
