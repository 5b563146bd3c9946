#include "proxy/session/upstream_connector.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/net/sockets.hpp"

namespace ledgergate::session {
namespace {

struct UpstreamConnector : testing::Test, net::stream_socket::owner {
  void on_ready(net::stream_socket&) override { connector.on_ready(); }

  std::optional<connect_outcome> connect(std::vector<net::socket_address> addresses) {
    connector.start(std::move(addresses), test::deadline);
    EXPECT_TRUE(test::run_until(loop, [&] { return outcome.has_value(); }));
    return outcome;
  }

  static net::socket_address nobody() {
    const net::unique_fd listening = test::tcp_listener();
    return net::socket_address::local_of(listening.get());
  }

  net::event_loop loop;
  net::stream_socket socket{loop, *this};
  std::optional<connect_outcome> outcome;
  upstream_connector connector{loop, socket, [this](connect_outcome given) { outcome = given; }};
  net::unique_fd listening = test::tcp_listener();
  net::socket_address somebody = net::socket_address::local_of(listening.get());
};

TEST_F(UpstreamConnector, TakesTheFirstAddressThatAnswers) {
  EXPECT_EQ(connect({nobody(), somebody}), connect_outcome::connected);
  EXPECT_EQ(connector.address().to_text(), somebody.to_text());
  EXPECT_NE(connector.failures(), "");
}

TEST_F(UpstreamConnector, FailsWhenNoAddressAnswersAndSaysWhyForEach) {
  const net::socket_address first = nobody();
  EXPECT_EQ(connect({first, nobody()}), connect_outcome::failed);
  EXPECT_NE(connector.failures().find(first.to_text() + ": Connection refused; "), std::string::npos);
  EXPECT_FALSE(socket.is_open());
}

TEST_F(UpstreamConnector, FailsWithoutAddresses) { EXPECT_EQ(connect({}), connect_outcome::failed); }

TEST_F(UpstreamConnector, LeavesAnAddressThatDoesNotAnswerInTimeForTheNextOne) {
  // A listener whose backlog is full drops further SYNs: the attempt hangs as with a host that is off.
  ASSERT_EQ(::listen(listening.get(), 0), 0);
  std::vector<net::unique_fd> filling;
  for (int i = 0; i < 4; ++i) {
    filling.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    ::connect(filling.back().get(), somebody.data(), somebody.size());
  }
  const net::unique_fd second = test::tcp_listener();
  const net::socket_address answering = net::socket_address::local_of(second.get());
  connector.start({somebody, answering}, std::chrono::milliseconds(200));
  EXPECT_TRUE(test::run_until(loop, [&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome, connect_outcome::connected);
  EXPECT_EQ(connector.address().to_text(), answering.to_text());
}

TEST_F(UpstreamConnector, WaitsForAUnixListenerWhoseBacklogIsFull) {
  char folder[] = "/tmp/lg-connector-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string file = std::string(folder) + "/socket";
  const net::socket_address address = *net::socket_address::from_unix_path(file);
  const net::unique_fd busy(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(busy.get(), address.data(), address.size()), 0);
  ASSERT_EQ(::listen(busy.get(), 0), 0);
  std::vector<net::unique_fd> filling;
  for (;;) {
    filling.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    if (::connect(filling.back().get(), address.data(), address.size()) != 0) break;
  }
  connector.start({address}, test::deadline);
  EXPECT_FALSE(outcome.has_value());
  for (std::size_t i = 0; i + 1 < filling.size(); ++i) {
    const net::unique_fd taken(::accept(busy.get(), nullptr, nullptr));
  }
  EXPECT_TRUE(test::run_until(loop, [&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome, connect_outcome::connected);
  ::unlink(file.c_str());
  ::rmdir(folder);
}

} // namespace
} // namespace ledgergate::session
