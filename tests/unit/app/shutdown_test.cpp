#include "proxy/app/shutdown.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/observe/log.hpp"

namespace ledgergate::app {
namespace {

using namespace std::chrono_literals;

struct Shutdown : testing::Test {
  Shutdown() {
    observe::set_up_log(
        {config::log_level::error, config::log_format::text, config::log_statements::redacted});
    steps.stop_listening = [this] { done.emplace_back("stop_listening"); };
    steps.drain_sessions = [this] { done.emplace_back("drain"); };
    steps.stop_control = [this](std::function<void()> stopped) { control_stopped = std::move(stopped); };
    steps.end_sessions = [this] { done.emplace_back("end_sessions"); };
    steps.connections = [this] { return connections; };
    steps.finish = [this] { done.emplace_back("finish"); };
  }

  boost::asio::io_context context;
  shutdown_steps steps;
  std::vector<std::string> done;
  std::function<void()> control_stopped;
  std::size_t connections = 0;
};

TEST_F(Shutdown, FinishesOnceTheLastSessionAndTheControlPlaneAreGone) {
  shutdown ending(context, {1h, 0ms}, steps);
  connections = 1;
  ending.request();
  EXPECT_TRUE(ending.requested());
  context.run_for(50ms);
  EXPECT_EQ(done, (std::vector<std::string>{"stop_listening", "drain"}));
  connections = 0;
  context.run_for(50ms);
  EXPECT_EQ(done.back(), "drain") << "the control plane still finishes its transition";
  control_stopped();
  context.run();
  EXPECT_EQ(done.back(), "finish");
}

TEST_F(Shutdown, EndsSessionsThatOutlastTheDrain) {
  shutdown ending(context, {10ms, 0ms}, steps);
  connections = 1;
  ending.request();
  control_stopped();
  while (done.back() != "end_sessions")
    context.run_one();
  connections = 0;
  context.run();
  EXPECT_EQ(done, (std::vector<std::string>{"stop_listening", "drain", "end_sessions", "finish"}));
}

TEST_F(Shutdown, FinishesEvenWhenSessionsCannotBeEnded) {
  shutdown ending(context, {10ms, 0ms}, steps);
  connections = 1;
  ending.request();
  context.run();
  EXPECT_EQ(done, (std::vector<std::string>{"stop_listening", "drain", "end_sessions", "finish"}));
}

TEST_F(Shutdown, ServesClientsForAWhileFirstWhereThatIsAskedFor) {
  shutdown ending(context, {1h, 30ms}, steps);
  ending.request();
  EXPECT_TRUE(ending.requested()) << "it says so while it still accepts";
  EXPECT_EQ(done, std::vector<std::string>{});
  while (done.empty())
    context.run_one();
  control_stopped();
  context.run();
  EXPECT_EQ(done, (std::vector<std::string>{"stop_listening", "drain", "finish"}));
}

TEST_F(Shutdown, ASecondRequestDoesNotServeAnyLonger) {
  shutdown ending(context, {1h, 1h}, steps);
  connections = 1;
  ending.request();
  ending.request();
  EXPECT_EQ(done, (std::vector<std::string>{"stop_listening", "drain", "end_sessions"}));
  connections = 0;
  control_stopped();
  context.run();
  EXPECT_EQ(done.back(), "finish");
}

TEST_F(Shutdown, ASecondRequestEndsSessionsAtOnce) {
  shutdown ending(context, {1h, 0ms}, steps);
  connections = 1;
  ending.request();
  ending.request();
  EXPECT_EQ(done, (std::vector<std::string>{"stop_listening", "drain", "end_sessions"}));
  connections = 0;
  control_stopped();
  context.run();
  EXPECT_EQ(done.back(), "finish");
}

} // namespace
} // namespace ledgergate::app
