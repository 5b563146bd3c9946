// Bytes in both directions at once, slow readers, messages in pieces.
#include <gmock/gmock.h>

#include <thread>

#include "tests/support/seeded_random.hpp"
#include "tests/unit/session/data_plane_fixture.hpp"

namespace ledgergate::test {
namespace {

struct Flow : DataPlane {};

constexpr std::size_t much = 50'000'000;

/// A stream that differs at every offset that a lost or doubled piece could shift it by.
std::string patterned(std::size_t bytes, unsigned salt) {
  std::string made(bytes, '\0');
  std::uint32_t state = salt;
  for (char& each : made) {
    state = state * 1664525U + 1013904223U;
    each = static_cast<char>(state >> 24U);
  }
  return made;
}

/// Small beside what is sent, but no smaller than a loopback segment: below that the kernel waits for timers.
void use_small_buffers(const test_peer& peer) {
  const int small = 65536;
  ::setsockopt(peer.fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  ::setsockopt(peer.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
}

std::string receive_in_big_pieces(test_peer& from, std::size_t bytes) {
  std::string got;
  got.reserve(bytes);
  while (got.size() < bytes) {
    const std::string more = from.receive(std::min<std::size_t>(bytes - got.size(), 65536));
    if (more.empty()) break;
    got += more;
  }
  return got;
}

TEST_F(Flow, FiftyMegabytesBothWaysAtOnceThroughSmallBuffers) {
  start();
  auto [client, server] = establish("other");
  use_small_buffers(client);
  use_small_buffers(server);
  const std::string up = patterned(much, 1);
  const std::string down = patterned(much, 2);
  std::thread client_sends([&, &to = client] { to.send(up); });
  std::thread server_sends([&, &to = server] { to.send(down); });
  std::string at_client;
  std::thread client_reads([&, &from = client] { at_client = receive_in_big_pieces(from, much); });
  const std::string at_server = receive_in_big_pieces(server, much);
  client_sends.join();
  server_sends.join();
  client_reads.join();
  EXPECT_TRUE(at_server == up);
  EXPECT_TRUE(at_client == down);
}

TEST_F(Flow, APipelineOfGatedQueriesWhoseAnswersPileUp) {
  start();
  auto [client, server] = establish("gated");
  use_small_buffers(client);
  use_small_buffers(server);
  const std::string one = query("select 1 /*" + std::string(50'000, '-') + "*/");
  const std::string row = message('D', std::string(50'000, 'r'));
  constexpr std::size_t count = 1'000;
  std::thread client_sends([&, &to = client] {
    for (std::size_t i = 0; i < count; ++i)
      to.send(one);
  });
  std::thread server_answers([&, &peer = server] {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(receive_in_big_pieces(peer, one.size()).size(), one.size());
      peer.send(row + answer('I'));
    }
  });
  const std::string reply = row + answer('I');
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_TRUE(receive_in_big_pieces(client, reply.size()) == reply) << i;
  client_sends.join();
  server_answers.join();
}

TEST_F(Flow, ASlowReaderHoldsTheServerBackAndLosesNothing) {
  start();
  auto [client, server] = establish("gated");
  client.send(query("select 1"));
  server.receive(query("select 1").size());
  const std::string row = message('D', patterned(10'000, 3));
  constexpr std::size_t count = 12'000; // 120 MB: more than the kernel's buffers ever grow to
  std::atomic<std::size_t> sent{0};
  std::thread server_sends([&, &to = server] {
    for (std::size_t i = 0; i < count; ++i) {
      to.send(row);
      ++sent;
    }
    to.send(answer('I'));
  });
  // With the client not reading, the kernel's buffers and one burst in the proxy are all that may be on the
  // way: far less than the whole. The sender is stuck once its count stands still over many looks.
  std::size_t stood_still = 0;
  for (std::size_t seen = 0; stood_still < 200'000; std::this_thread::yield()) {
    const std::size_t now = sent;
    stood_still = now == seen ? stood_still + 1 : 0;
    seen = now;
  }
  EXPECT_LT(sent, count);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_TRUE(receive_in_big_pieces(client, row.size()) == row) << i;
  EXPECT_EQ(client.receive_until_ready(), answer('I'));
  server_sends.join();
}

TEST_F(Flow, MessagesInPiecesArriveWhole) {
  start();
  auto [client, server] = establish("gated");
  std::mt19937 random(chosen_seed());
  for (int round = 0; round < 50; ++round) {
    const std::string asked = query("select " + std::to_string(round) + std::string(random() % 300, ' '));
    const std::string answered = message('D', std::string(random() % 300, 'x')) + answer('I');
    for (std::size_t at = 0; at < asked.size();) {
      const std::size_t piece = std::min<std::size_t>(1 + random() % 40, asked.size() - at);
      client.send(std::string_view(asked).substr(at, piece));
      at += piece;
    }
    ASSERT_EQ(server.receive(asked.size()), asked);
    for (std::size_t at = 0; at < answered.size();) {
      const std::size_t piece = std::min<std::size_t>(1 + random() % 40, answered.size() - at);
      server.send(std::string_view(answered).substr(at, piece));
      at += piece;
    }
    ASSERT_EQ(client.receive(answered.size()), answered);
  }
}

TEST_F(Flow, AStatementLargerThanTheScratchBufferArrivesWhole) {
  start();
  auto [client, server] = establish("gated");
  const std::string asked = query("select '" + std::string(3'000'000, 'x') + "'");
  std::thread client_sends([&, &to = client] { to.send(asked); });
  EXPECT_TRUE(receive_in_big_pieces(server, asked.size()) == asked);
  client_sends.join();
  server.send(answer('I'));
  EXPECT_EQ(client.receive_until_ready(), answer('I'));
}

TEST_F(Flow, ASessionThatStreamsDoesNotStarveAnother) {
  start();
  auto [streaming, source] = establish("other");
  auto [other, other_server] = establish("gated");
  std::atomic<bool> over{false};
  std::thread source_sends([&, &to = source] {
    const std::string piece(1 << 20, 's');
    while (!over)
      to.send(piece);
    to.close();
  });
  std::thread stream_reads([&, &from = streaming] {
    while (!from.receive(1 << 20).empty()) {
    }
  });
  for (int i = 0; i < 200; ++i) {
    other.send(query("select 1"));
    ASSERT_EQ(other_server.receive(query("select 1").size()), query("select 1"));
    other_server.send(answer('I'));
    ASSERT_EQ(other.receive_until_ready(), answer('I'));
  }
  over = true;
  source_sends.join();
  stream_reads.join();
}

} // namespace
} // namespace ledgergate::test
