#include "proxy/net/peer_fate.hpp"

#include <gtest/gtest.h>

#include "tests/unit/net/sockets.hpp"

namespace ledgergate::net {
namespace {

struct ready_counter final : stream_socket::owner {
  int count = 0;
  void on_ready(stream_socket&) override { ++count; }
};

struct PeerFate : testing::TestWithParam<bool> {
  PeerFate() {
    auto [ours, theirs] = GetParam() ? test::unix_pair() : test::tcp_pair();
    peer = std::move(theirs);
    EXPECT_TRUE(socket.adopt(std::move(ours)));
  }
  bool await_end() {
    return test::run_until(loop, [&] { return socket.peer_ended(); });
  }

  event_loop loop;
  ready_counter owner;
  stream_socket socket{loop, owner};
  unique_fd peer;
};

TEST_P(PeerFate, APeerThatShutItsWritingHalfIsStillThere) {
  ::shutdown(peer.get(), SHUT_WR);
  ASSERT_TRUE(await_end());
  EXPECT_EQ(examine_peer(socket), peer_fate::half_closed);
}

TEST_P(PeerFate, APeerThatClosedIsGone) {
  peer.reset();
  ASSERT_TRUE(await_end());
  EXPECT_EQ(examine_peer(socket), peer_fate::gone);
}

TEST_P(PeerFate, APeerThatShutAndClosedLaterIsGone) {
  ::shutdown(peer.get(), SHUT_WR);
  ASSERT_TRUE(await_end());
  peer.reset();
  EXPECT_TRUE(test::run_until(loop, [&] { return examine_peer(socket) == peer_fate::gone; }));
}

TEST_P(PeerFate, APeerThatClosedWithUnreadBytesIsGone) {
  ASSERT_EQ(socket.write(std::string_view("never read")).status, io_status::ok);
  ASSERT_TRUE(test::readable(peer.get(), test::deadline));
  peer.reset();
  ASSERT_TRUE(await_end());
  EXPECT_EQ(examine_peer(socket), peer_fate::gone);
}

INSTANTIATE_TEST_SUITE_P(Sockets, PeerFate, testing::Bool(),
                         [](const auto& about) { return about.param ? "Unix" : "Tcp"; });

} // namespace
} // namespace ledgergate::net
