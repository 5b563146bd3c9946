// The limit on requests of one peer.
#include "proxy/admin/request_rates.hpp"

#include <gtest/gtest.h>

namespace ledgergate::admin {
namespace {

using namespace std::chrono_literals;

const request_rates::time_point start{std::chrono::hours(1)};

TEST(RequestRates, AllowABurstAndThenASteadyRate) {
  request_rates rates({.per_second = 10, .burst = 3, .peers = 8});
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(rates.admit("10.0.0.1:5000", start));
  EXPECT_FALSE(rates.admit("10.0.0.1:5000", start));
  EXPECT_TRUE(rates.admit("10.0.0.1:5000", start + 100ms));
  EXPECT_FALSE(rates.admit("10.0.0.1:5000", start + 100ms));
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(rates.admit("10.0.0.1:5000", start + 1h)) << "never more than the burst";
  EXPECT_FALSE(rates.admit("10.0.0.1:5000", start + 1h));
}

TEST(RequestRates, CountAPeerWhateverConnectionItUses) {
  request_rates rates({.per_second = 1, .burst = 1, .peers = 8});
  EXPECT_TRUE(rates.admit("10.0.0.1:5000", start));
  EXPECT_FALSE(rates.admit("10.0.0.1:5001", start));
  EXPECT_TRUE(rates.admit("[::1]:5000", start));
  EXPECT_FALSE(rates.admit("[::1]:5001", start));
  EXPECT_TRUE(rates.admit("unix pid 811 uid 0", start));
  EXPECT_FALSE(rates.admit("unix pid 812 uid 0", start));
  EXPECT_TRUE(rates.admit("unix pid 812 uid 1", start));
}

TEST(RequestRates, RememberABoundedNumberOfPeers) {
  request_rates rates({.per_second = 0.001, .burst = 1, .peers = 4});
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(rates.admit("10.0.0." + std::to_string(i) + ":1", start + std::chrono::milliseconds(i)));
  EXPECT_FALSE(rates.admit("10.0.0.99:1", start + 100ms)) << "the newest is remembered";
}

} // namespace
} // namespace ledgergate::admin
