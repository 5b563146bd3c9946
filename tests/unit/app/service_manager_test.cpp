#include "proxy/app/service_manager.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "proxy/net/unique_fd.hpp"

namespace ledgergate::app {
namespace {

using namespace std::chrono_literals;

struct ServiceManager : testing::Test {
  ServiceManager() : receiver(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    environment.socket = "@ledgergate-test-" + std::to_string(::getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(environment.socket.begin(), environment.socket.end(), address.sun_path);
    address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + environment.socket.size());
    EXPECT_EQ(::bind(receiver.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  }

  std::size_t meals() const {
    std::size_t count = 0;
    char text[512];
    for (ssize_t size = 0; (size = ::recv(receiver.get(), text, sizeof text, 0)) >= 0;)
      count += std::string(text, static_cast<std::size_t>(size)) == "WATCHDOG=1" ? 1 : 0;
    return count;
  }

  boost::asio::io_context io;
  service_environment environment;
  net::unique_fd receiver;
};

TEST_F(ServiceManager, LeavesTheWatchdogHungryWhenAThreadDoesNotAnswer) {
  environment.watchdog = 2ms;
  std::vector<std::function<void()>> questions;
  service_manager manager(io, environment, [&](auto answered) { questions.push_back(std::move(answered)); });
  manager.ready("serving");
  while (questions.empty())
    io.run_one();
  io.run_for(20ms);
  EXPECT_EQ(questions.size(), 1U);
  EXPECT_EQ(meals(), 0U);

  questions.front()();
  io.restart();
  while (questions.size() == 1)
    io.run_one();
  EXPECT_EQ(meals(), 1U);
}

TEST_F(ServiceManager, DoesNothingWithoutASocket) {
  environment = {};
  environment.watchdog = 1ms;
  service_manager manager(io, environment, [](const auto&) { FAIL() << "nobody wants to know"; });
  manager.ready("serving");
  manager.stopping(1s);
  EXPECT_EQ(io.run(), 0U);
}

} // namespace
} // namespace ledgergate::app
