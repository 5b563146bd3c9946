#include "proxy/net/stream_socket.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/unit/net/sockets.hpp"

namespace ledgergate::net {
namespace {

struct ready_counter final : stream_socket::owner {
  int count = 0;
  void on_ready(stream_socket&) override { ++count; }
};

struct StreamSocket : testing::TestWithParam<bool> {
  StreamSocket() {
    auto [ours, theirs] = GetParam() ? test::unix_pair() : test::tcp_pair();
    peer = std::move(theirs);
    EXPECT_TRUE(socket.adopt(std::move(ours)));
  }

  event_loop loop;
  ready_counter owner;
  stream_socket socket{loop, owner};
  unique_fd peer;
  std::array<char, 64> buffer{};
};

TEST_P(StreamSocket, AShortReadCountsAsDrained) {
  ASSERT_EQ(::send(peer.get(), "hello", 5, 0), 5);
  ASSERT_TRUE(test::run_until(loop, [&] { return socket.can_read(); }));
  const io_result result = socket.read(buffer);
  EXPECT_EQ(result.status, io_status::ok);
  EXPECT_EQ(std::string(buffer.data(), result.bytes), "hello");
  EXPECT_FALSE(socket.can_read());
}

TEST_P(StreamSocket, AFullReadIsReadAgain) {
  const std::string twice(buffer.size() * 2, 'x');
  ASSERT_EQ(::send(peer.get(), twice.data(), twice.size(), 0), static_cast<ssize_t>(twice.size()));
  ASSERT_TRUE(test::run_until(loop, [&] { return socket.can_read(); }));
  EXPECT_EQ(socket.read(buffer).bytes, buffer.size());
  EXPECT_TRUE(socket.can_read());
}

TEST_P(StreamSocket, TheEndBehindAShortReadIsNotMissed) {
  ASSERT_EQ(::send(peer.get(), "bye", 3, 0), 3);
  peer.reset();
  ASSERT_TRUE(test::run_until(loop, [&] { return socket.peer_ended(); }));
  EXPECT_EQ(socket.read(buffer).bytes, 3U);
  ASSERT_TRUE(socket.can_read());
  EXPECT_EQ(socket.read(buffer).status, io_status::end);
  EXPECT_FALSE(socket.can_read());
}

TEST_P(StreamSocket, AFullSendBufferIsAnnouncedWhenThereIsRoomAgain) {
  const std::string much(1 << 20, 'x');
  std::size_t written = 0;
  while (socket.can_write())
    written += socket.write(std::string_view(much)).bytes;
  ASSERT_GT(written, 0U);
  std::string sink(written, '\0');
  for (std::size_t read = 0; read < written;) {
    const auto got = ::recv(peer.get(), sink.data(), sink.size(), 0);
    ASSERT_GT(got, 0);
    read += static_cast<std::size_t>(got);
  }
  EXPECT_TRUE(test::run_until(loop, [&] { return socket.can_write(); }));
}

TEST_P(StreamSocket, SeveralPiecesArriveInOrder) {
  std::string first = "one ";
  std::string second = "two";
  const std::array<iovec, 2> pieces{{{first.data(), first.size()}, {second.data(), second.size()}}};
  EXPECT_EQ(socket.write(pieces).bytes, 7U);
  EXPECT_EQ(::recv(peer.get(), buffer.data(), buffer.size(), 0), 7);
  EXPECT_EQ(std::string(buffer.data(), 7), "one two");
}

TEST_P(StreamSocket, WritingToAClosedPeerIsAFailureAndNoSignal) {
  peer.reset();
  EXPECT_TRUE(
      test::run_until(loop, [&] { return socket.write(std::string_view("x")).status == io_status::failed; }));
}

INSTANTIATE_TEST_SUITE_P(Sockets, StreamSocket, testing::Bool(),
                         [](const auto& about) { return about.param ? "Unix" : "Tcp"; });

/// Edge-triggered registration must not wake the loop for room that nobody waits for.
TEST(StreamSocketOnUnix, IsNotWokenWhenThePeerReads) {
  event_loop loop;
  ready_counter owner;
  stream_socket socket(loop, owner);
  auto [ours, theirs] = test::unix_pair();
  ASSERT_TRUE(socket.adopt(std::move(ours)));
  char buffer[8];
  int turns = 0;
  ASSERT_TRUE(test::run_until(loop, [&] {
    EXPECT_EQ(socket.write(std::string_view("x")).status, io_status::ok);
    EXPECT_EQ(::recv(theirs.get(), buffer, sizeof buffer, 0), 1);
    return ++turns == 20;
  }));
  EXPECT_EQ(owner.count, 0);
}

TEST(StreamSocketConnect, ReportsARefusedConnection) {
  net::socket_address closed;
  {
    const unique_fd listening = test::tcp_listener();
    closed = socket_address::local_of(listening.get());
  }
  event_loop loop;
  ready_counter owner;
  stream_socket socket(loop, owner);
  connect_status status = socket.start_connect(closed);
  if (status == connect_status::in_progress) {
    ASSERT_TRUE(test::run_until(loop, [&] { return owner.count > 0; }));
    status = socket.finish_connect();
  }
  EXPECT_EQ(status, connect_status::failed);
  EXPECT_EQ(socket.last_error(), ECONNREFUSED);
}

TEST(StreamSocketConnect, ConnectsAndIsWritable) {
  const unique_fd listening = test::tcp_listener();
  event_loop loop;
  ready_counter owner;
  stream_socket socket(loop, owner);
  connect_status status = socket.start_connect(socket_address::local_of(listening.get()));
  if (status == connect_status::in_progress) {
    ASSERT_TRUE(test::run_until(loop, [&] { return owner.count > 0; }));
    status = socket.finish_connect();
  }
  EXPECT_EQ(status, connect_status::connected);
  EXPECT_TRUE(socket.can_write());
}

} // namespace
} // namespace ledgergate::net
