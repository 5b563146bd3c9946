#include "proxy/app/upstream_probe.hpp"

#include <gtest/gtest.h>

#include "proxy/observe/log.hpp"
#include "tests/unit/net/sockets.hpp"

namespace ledgergate::app {
namespace {

struct UpstreamProbe : testing::Test {
  UpstreamProbe() {
    observe::set_up_log(
        {config::log_level::error, config::log_format::text, config::log_statements::redacted});
  }

  static net::place place_of(int listening) {
    const std::string text = net::socket_address::local_of(listening).to_text();
    return {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(text.substr(text.find(':') + 1))), ""};
  }

  bool run_until(const std::function<bool()>& condition) {
    const auto limit = std::chrono::steady_clock::now() + test::deadline;
    while (!condition() && std::chrono::steady_clock::now() < limit)
      context.run_one_for(std::chrono::milliseconds(10));
    return condition();
  }

  boost::asio::io_context context;
  session::session_registry registry{1};
  bool doubted = false;
};

TEST_F(UpstreamProbe, FindsAServerThatListens) {
  const net::unique_fd listening = test::tcp_listener();
  net::name_resolver resolver(context, {place_of(listening.get())}, test::deadline);
  upstream_probe probe(context, resolver, registry, [] { return false; });
  EXPECT_FALSE(probe.known());
  probe.start();
  EXPECT_TRUE(run_until([&] { return probe.known(); }));
  EXPECT_TRUE(registry.upstream().reachable);
}

TEST_F(UpstreamProbe, FindsThatNobodyListensAndThatSomebodyDoesAgain) {
  net::unique_fd listening = test::tcp_listener();
  const net::socket_address address = net::socket_address::local_of(listening.get());
  net::name_resolver resolver(context, {place_of(listening.get())}, test::deadline);
  listening.reset();
  upstream_probe probe(context, resolver, registry, [] { return false; });
  probe.start();
  EXPECT_TRUE(run_until([&] { return !registry.upstream().reachable; }));
  EXPECT_NE(registry.upstream().last_failure.find("Connection refused"), std::string::npos);

  const net::unique_fd again(::socket(AF_INET, SOCK_STREAM, 0));
  const int on = 1;
  ::setsockopt(again.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ASSERT_EQ(::bind(again.get(), address.data(), address.size()), 0);
  ASSERT_EQ(::listen(again.get(), 1), 0);
  EXPECT_TRUE(run_until([&] { return registry.upstream().reachable; }));
}

TEST_F(UpstreamProbe, LooksAgainAtAServerInDoubtAlthoughNoClientFailed) {
  net::unique_fd listening = test::tcp_listener();
  net::name_resolver resolver(context, {place_of(listening.get())}, test::deadline);
  upstream_probe probe(context, resolver, registry, [this] { return doubted; });
  probe.start();
  ASSERT_TRUE(run_until([&] { return probe.known(); }));
  listening.reset();
  doubted = true;
  EXPECT_TRUE(run_until([&] { return !registry.upstream().reachable; }));
}

} // namespace
} // namespace ledgergate::app
