#include "proxy/observe/latency_histogram.hpp"

#include <gtest/gtest.h>

namespace ledgergate::observe {
namespace {

using namespace std::chrono_literals;

TEST(LatencyHistogram, CountsAValueInTheFirstBucketThatHoldsIt) {
  latency_histogram histogram;
  histogram.observe(1us);
  histogram.observe(latency_histogram::bounds[1]);
  histogram.observe(latency_histogram::bounds[1] + 1ns);
  histogram.observe(1h);
  EXPECT_EQ(histogram.in_bucket(0), 1U);
  EXPECT_EQ(histogram.in_bucket(1), 1U);
  EXPECT_EQ(histogram.in_bucket(2), 1U);
  EXPECT_EQ(histogram.in_bucket(latency_histogram::bounds.size()), 1U);
}

TEST(LatencyHistogram, AddsUpWhatWasObserved) {
  latency_histogram histogram;
  histogram.observe(3us);
  histogram.observe(4ms);
  histogram.observe(-1us);
  EXPECT_EQ(histogram.sum(), 4003us);
}

} // namespace
} // namespace ledgergate::observe
