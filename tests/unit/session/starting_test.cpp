// From the first byte to the relayed session.
#include <gmock/gmock.h>

#include "tests/support/seeded_random.hpp"
#include "tests/unit/session/data_plane_fixture.hpp"

namespace ledgergate::test {
namespace {

using session::session_result;
using testing::HasSubstr;

struct Starting : DataPlane {};

const std::string ssl_request("\0\0\0\x08\x04\xd2\x16\x2f", 8);

TEST_F(Starting, ForwardsTheStartupPacketByteForByte) {
  start();
  test_peer client = connect();
  const std::string more("options\0-c a=b --c=d\0_pq_.x\0"
                         "1\0user\0again\0",
                         41);
  const std::string packet = startup_packet("gated", more);
  client.send(packet);
  EXPECT_EQ(accept().receive(packet.size()), packet);
}

TEST_F(Starting, TakesPacketsThatArriveByteByByte) {
  start();
  test_peer client = connect();
  for (const char each : ssl_request)
    client.send({&each, 1});
  EXPECT_EQ(client.receive(1), "N");
  // The answer came from the proxy alone: an encryption request is never the server's business.
  EXPECT_FALSE(server_was_contacted());
  const std::string packet = startup_packet("gated");
  for (const char each : packet)
    client.send({&each, 1});
  EXPECT_EQ(accept().receive(packet.size()), packet);
}

TEST_F(Starting, PassesOnWhatTheClientSendsBeforeItIsAuthenticated) {
  start();
  test_peer client = connect();
  const std::string packet = startup_packet("gated");
  const std::string password = message('p', std::string("secret\0", 7));
  client.send(packet);
  test_peer server = accept();
  EXPECT_EQ(server.receive(packet.size()), packet);
  server.send(message('R', {"\0\0\0\3", 4}));
  EXPECT_EQ(client.receive(9), message('R', {"\0\0\0\3", 4}));
  client.send(password);
  EXPECT_EQ(server.receive(password.size()), password);
}

TEST_F(Starting, RefusesClearTextBehindAnEncryptionRequest) {
  start();
  test_peer client = connect();
  client.send(ssl_request + startup_packet("gated"));
  const std::string words = client.receive_all();
  EXPECT_EQ(words[0], 'N');
  EXPECT_THAT(words, HasSubstr("08P01"));
  EXPECT_FALSE(server_was_contacted());
}

TEST_F(Starting, GarbageClosesItsOwnSocketAndCostsNoServerConnection) {
  start();
  std::mt19937 random(chosen_seed());
  for (int i = 0; i < 300; ++i) {
    test_peer client = connect();
    std::string garbage(4 + random() % 100, '\0');
    for (char& each : garbage)
      each = static_cast<char>(random());
    garbage[0] = static_cast<char>(garbage[0] | 1); // a length far out of range
    client.send(garbage);
    EXPECT_EQ(client.receive_all(), "");
  }
  EXPECT_TRUE(eventually([&] { return ended(session_result::startup_refused) == 300; }));
  EXPECT_FALSE(server_was_contacted());
}

TEST_F(Starting, ProbesCostNothing) {
  start();
  for (int i = 0; i < 300; ++i)
    connect().close();
  EXPECT_TRUE(eventually([&] { return ended(session_result::probe) == 300 && plane->connections() == 0; }));
  EXPECT_FALSE(server_was_contacted());
}

TEST_F(Starting, ASilentClientIsClosedAfterTheTimeLimit) {
  settings.limits.client_startup_timeout = 50ms;
  start();
  test_peer client = connect();
  client.send("\0\0");
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_TRUE(eventually([&] { return ended(session_result::startup_timeout) == 1; }));
}

TEST_F(Starting, OneClientTooManyIsToldSo) {
  settings.limits.max_clients = 1;
  start();
  auto [client, server] = establish();
  test_peer second = connect();
  second.send(startup_packet("gated"));
  EXPECT_THAT(second.receive_all(), HasSubstr("53300"));
  client.close();
  ASSERT_TRUE(eventually([&] { return registry->clients() == 0; }));
  establish();
}

TEST_F(Starting, AnUnreachableServerIs08006WithoutDetail) {
  start();
  // The stub's place is taken by a port where nobody listens.
  resolver =
      std::make_unique<net::name_resolver>(io, std::vector<net::place>{{"127.0.0.1", 1, ""}}, deadline);
  services = std::make_unique<session::services>(
      session::services{services->settings, services->rules, *resolver, *registry, cancels, log,
                        services->read_control_row, services->read_catalog});
  plane->stop();
  plane = std::make_unique<session::data_plane>(*services, metrics, 1);
  plane->start();
  test_peer client = connect();
  client.send(startup_packet("gated"));
  const std::string words = client.receive_all();
  EXPECT_THAT(words, HasSubstr("C08006"));
  EXPECT_THAT(words, testing::Not(HasSubstr("127.0.0.1")));
  EXPECT_FALSE(registry->upstream().reachable);
}

TEST_F(Starting, AServerThatLeavesWithoutAWordIs08006) {
  start();
  test_peer client = connect();
  const std::string packet = startup_packet("gated");
  client.send(packet);
  test_peer server = accept();
  server.receive(packet.size());
  server.close();
  EXPECT_THAT(client.receive_all(), HasSubstr("C08006"));
}

TEST_F(Starting, TheServersOwnRefusalIsPassedOnAsItIs) {
  start();
  test_peer client = connect();
  const std::string packet = startup_packet("gated");
  client.send(packet);
  test_peer server = accept();
  server.receive(packet.size());
  const std::string words = message('E', std::string("SFATAL\0C28P01\0Mno\0\0", 19));
  server.send(words);
  server.close();
  EXPECT_EQ(client.receive_all(), words);
}

TEST_F(Starting, OnlyTheGatedDatabaseIsGated) {
  start();
  auto gated = establish("gated");
  EXPECT_EQ(registry->ungated(), 0U);
  auto other = establish("other");
  EXPECT_EQ(registry->ungated(), 1U);
}

} // namespace
} // namespace ledgergate::test
