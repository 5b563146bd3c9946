// How many clients there are and how they ended: limits, drain, /v1/status and the metrics. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "proxy/observe/metrics.hpp"

namespace ledgergate::session {

/// How a connection ended; label of ledgergate_clients_total.
enum class session_result : std::uint8_t {
  completed,            ///< the client said goodbye, or left with nothing outstanding
  client_lost,          ///< the client went away in the middle of something
  server_closed,        ///< the server ended it (its last words were passed on)
  protocol_violation,   ///< one side's bytes made no sense
  upstream_unreachable, ///< no server could be connected to, or it left without a word
  too_many_clients,     ///< limits.max_clients, or out of descriptors
  startup_refused,      ///< a malformed first packet
  startup_timeout,      ///< no whole start-up packet within limits.client_startup_timeout
  probe,                ///< connected and left without a byte
  cancel_request,       ///< carried a CancelRequest
  drained,              ///< ended by the proxy's own shutdown
};
inline constexpr std::size_t session_result_count = 11;
const char* to_string(session_result);

/// The data plane's own view of the server, for /readyz: what the latest connection attempts came to.
struct upstream_health {
  bool reachable = true; ///< false after a failure until the next success
  std::uint64_t failures_in_a_row = 0;
  std::string last_failure; ///< for operators, not for clients
};

class session_registry {
 public:
  explicit session_registry(std::size_t max_clients) : max_clients_(max_clients) {}

  /// A client with a whole start-up packet. False: limits.max_clients are there already.
  bool admit();
  /// For the clients that come; those that are there stay.
  void set_max_clients(std::size_t most) { max_clients_.store(most, std::memory_order_relaxed); }
  void release() { clients_.fetch_sub(1, std::memory_order_relaxed); }
  void count_ungated() { ungated_.fetch_add(1, std::memory_order_relaxed); }
  void count_end(session_result);

  std::size_t clients() const { return clients_.load(std::memory_order_relaxed); }
  std::uint64_t ended(session_result) const;
  /// Sessions relayed without the gate since the start.
  std::uint64_t ungated() const { return ungated_.load(std::memory_order_relaxed); }
  observe::client_figures figures() const;

  void upstream_connected();
  void upstream_failed(const std::string& why);
  upstream_health upstream() const;

 private:
  std::atomic<std::size_t> max_clients_;
  std::atomic<std::size_t> clients_{0};
  std::atomic<std::uint64_t> ungated_{0};
  std::array<std::atomic<std::uint64_t>, session_result_count> ended_{};
  std::atomic<bool> upstream_reachable_{true};
  mutable std::mutex upstream_mutex_;
  upstream_health upstream_; ///< guarded by upstream_mutex_
};

} // namespace ledgergate::session
