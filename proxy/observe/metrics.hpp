// All metrics of the process; their names are fixed. The data plane counts per worker; the control plane
// sets gauges and counts transitions here. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/observe/worker_counters.hpp"

namespace ledgergate::observe {

/// What the session registry knows about clients.
struct client_figures {
  std::size_t now = 0;
  std::uint64_t ungated = 0;
  std::vector<std::pair<std::string, std::uint64_t>> ended; ///< result and how many
};

class metrics {
 public:
  metrics();
  ~metrics();
  metrics(const metrics&) = delete;
  metrics& operator=(const metrics&) = delete;

  /// A set of counters for one worker; lives as long as this object.
  worker_counters& add_worker();
  /// Asked at each scrape, from the scraping thread.
  void set_clients(std::function<client_figures()> source);

  /// Holders of the shared gate lock and waiters for it, as pg_locks last showed them.
  void set_pins(std::size_t held, std::size_t waiting);
  /// `ledgergate_mode{mode}`: 1 for the mode in force, 0 for the others; all 0 while it is unknown (empty).
  void set_mode(const std::vector<std::string>& modes, const std::string& in_force);
  /// `ledgergate_gate_mode{mode}`: 1 for the gate.mode of this sidecar.
  void set_gate_mode(const std::string& in_force);
  /// `ledgergate_build_info`: always 1, its labels are what matters.
  void set_build(const std::string& version, const std::string& commit);
  /// Whether transitions could be asked for, how old the oldest pin is, and how long the transition that runs
  /// has been running; zero where there is none.
  void set_control(bool connected, std::chrono::duration<double> oldest_pin,
                   std::chrono::duration<double> running_transition);
  void count_transition(const std::string& result);
  /// Time in the gate's queue, summed over the attempts of one transition.
  void observe_transition_queue(std::chrono::duration<double>);
  /// Time from the grant to the commit.
  void observe_transition_hold(std::chrono::duration<double>);
  void set_catalog_age(std::chrono::duration<double>);
  /// Names that are gated, and objects that cannot be looked into.
  void set_catalog_size(std::size_t gated, std::size_t unseen);
  /// A client had defined something and the catalog could not be read in time.
  void count_catalog_late();
  /// Readings that failed since the start.
  void set_catalog_failures(std::uint64_t count);

  /// The Prometheus text format, version 0.0.4.
  std::string render() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace ledgergate::observe
