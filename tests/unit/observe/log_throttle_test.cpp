#include <gtest/gtest.h>

#include "proxy/observe/log.hpp"

namespace ledgergate::observe {
namespace {

using namespace std::chrono_literals;

TEST(LogThrottle, FallsSilentAfterTheAllowedLines) {
  log_throttle throttle(2, 10s);
  const auto now = log_throttle::clock::now();
  EXPECT_TRUE(throttle.ask(now).allowed);
  EXPECT_TRUE(throttle.ask(now).allowed);
  EXPECT_FALSE(throttle.ask(now).allowed);
  EXPECT_FALSE(throttle.ask(now + 9s).allowed);
}

TEST(LogThrottle, SaysHowManyLinesWereLeftOutInTheNextWindow) {
  log_throttle throttle(1, 10s);
  const auto now = log_throttle::clock::now();
  EXPECT_TRUE(throttle.ask(now).allowed);
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(throttle.ask(now + 1s).allowed);
  const log_throttle::verdict next = throttle.ask(now + 10s);
  EXPECT_TRUE(next.allowed);
  EXPECT_EQ(next.left_out, 5U);
  EXPECT_EQ(throttle.ask(now + 20s).left_out, 0U);
}

} // namespace
} // namespace ledgergate::observe
