// What the tests of sockets share: waiting for a condition with a deadline, connected pairs, a loop that runs
// in the test's own thread.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "proxy/net/event_loop.hpp"
#include "proxy/net/unique_fd.hpp"

namespace ledgergate::test {

using namespace std::chrono_literals;

/// Long enough for a loaded machine; a test that needs it has failed.
inline constexpr auto deadline = 20s;

/// Runs the loop until `over` is true, which is asked after each millisecond at the latest.
inline testing::AssertionResult run_until(net::event_loop& loop, const std::function<bool()>& over) {
  const auto limit = std::chrono::steady_clock::now() + deadline;
  bool reached = false;
  std::function<void()> look;
  net::timer again(loop, [&] { look(); });
  look = [&] {
    reached = over();
    if (reached || std::chrono::steady_clock::now() > limit) return loop.stop();
    again.expire_after(1ms);
  };
  loop.post([&] { look(); });
  loop.run();
  return reached ? testing::AssertionSuccess() : testing::AssertionFailure() << "the deadline passed";
}

inline bool readable(int fd, std::chrono::milliseconds patience) {
  pollfd wanted{fd, POLLIN, 0};
  return ::poll(&wanted, 1, static_cast<int>(patience.count())) == 1;
}

/// Two ends of one connection over unix sockets, the first of them non-blocking.
inline std::pair<net::unique_fd, net::unique_fd> unix_pair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  net::unique_fd ours(ends[0]);
  EXPECT_EQ(::fcntl(ours.get(), F_SETFL, O_NONBLOCK), 0);
  return {std::move(ours), net::unique_fd(ends[1])};
}

/// A listening socket on a loopback port of the kernel's choice.
inline net::unique_fd tcp_listener() {
  net::unique_fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
  EXPECT_EQ(::listen(listening.get(), 64), 0);
  return listening;
}

/// Small pieces go out at once, as from every PostgreSQL client.
inline void send_at_once(const net::unique_fd& tcp) {
  const int on = 1;
  ::setsockopt(tcp.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// The same over TCP.
inline std::pair<net::unique_fd, net::unique_fd> tcp_pair() {
  const net::unique_fd listening = tcp_listener();
  sockaddr_in where{};
  socklen_t size = sizeof where;
  ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&where), &size);
  net::unique_fd theirs(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(theirs.get(), reinterpret_cast<const sockaddr*>(&where), size), 0);
  send_at_once(theirs);
  net::unique_fd ours(::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  EXPECT_TRUE(ours);
  return {std::move(ours), std::move(theirs)};
}

} // namespace ledgergate::test
