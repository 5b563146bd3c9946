// What one data-plane worker counts. Written by that worker only; read whenever somebody scrapes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "proxy/gate/actions.hpp"
#include "proxy/gate/counters.hpp"
#include "proxy/observe/latency_histogram.hpp"

namespace ledgergate::observe {

/// Counts by a label whose values are not known beforehand. For rare events: it locks.
class labelled_counter {
 public:
  void add(const std::string& label) {
    const std::lock_guard lock(mutex_);
    ++counts_[label];
  }
  std::map<std::string, std::uint64_t> get() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
};

struct worker_counters {
  gate::statement_counters statements;
  std::array<gate::relaxed_counter, gate::pin_shape_count> pins;
  gate::relaxed_counter client_to_server_bytes;
  gate::relaxed_counter server_to_client_bytes;
  gate::relaxed_counter upgrades; ///< pinned transactions that became transitions
  gate::relaxed_counter
      stale; ///< touches refused with 40001: the snapshot was older than the last transition
  gate::relaxed_counter denied;    ///< in-band transitions refused by policy
  gate::relaxed_counter abandoned; ///< sessions whose client went away while replies were outstanding
  latency_histogram pin_wait;      ///< from the pin's injection to its reply
  latency_histogram added_latency; ///< one burst's time between its receive and the end of its send
  labelled_counter pin_failures;   ///< by SQLSTATE
  labelled_counter unparsed;       ///< by reason
  labelled_counter refused;        ///< shapes that cannot be pinned, by reason
};

} // namespace ledgergate::observe
