// Counters of the data plane, one set per worker thread: written by that thread only, read by the scraping
// thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace ledgergate::gate {

/// A counter with one writer: a relaxed load and store, no locked instruction.
class relaxed_counter {
 public:
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Statements by verdict: every text of a Query and every executed portal or FunctionCall counts once.
struct statement_counters {
  relaxed_counter none;
  relaxed_counter touch;
  relaxed_counter transition;
};

} // namespace ledgergate::gate
