// A histogram of durations with one writing thread: no lock and no locked instruction where it is written.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "proxy/gate/counters.hpp"

namespace ledgergate::observe {

class latency_histogram {
 public:
  /// Upper bounds, from a microsecond (the proxy's own share) to a minute (a pin behind a transition). The
  /// last bucket of the array counts what is above all of them.
  static constexpr std::array<std::chrono::nanoseconds, 17> bounds{
      std::chrono::microseconds(2),   std::chrono::microseconds(5),   std::chrono::microseconds(10),
      std::chrono::microseconds(20),  std::chrono::microseconds(50),  std::chrono::microseconds(100),
      std::chrono::microseconds(250), std::chrono::microseconds(500), std::chrono::milliseconds(1),
      std::chrono::milliseconds(5),   std::chrono::milliseconds(25),  std::chrono::milliseconds(100),
      std::chrono::milliseconds(250), std::chrono::seconds(1),        std::chrono::seconds(5),
      std::chrono::seconds(15),       std::chrono::seconds(60)};

  void observe(std::chrono::nanoseconds);

  /// Not cumulative.
  std::uint64_t in_bucket(std::size_t index) const { return buckets_[index].get(); }
  std::chrono::nanoseconds sum() const { return std::chrono::nanoseconds(sum_nanoseconds_.get()); }

 private:
  std::array<gate::relaxed_counter, bounds.size() + 1> buckets_;
  gate::relaxed_counter sum_nanoseconds_;
};

} // namespace ledgergate::observe
