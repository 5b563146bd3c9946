// Who holds the gate key and who waits for it, as one reading of the server's lock table.
// Pure values; filled from the rows of `statements::pins()` (statements.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ledgergate::transition {

using wall_time = std::chrono::system_clock::time_point;
/// Durations are kept in microseconds; the admin API shows them in milliseconds.
using elapsed = std::chrono::microseconds;

/// In which mode a backend holds or wants the gate key.
enum class gate_hold {
  pin,       ///< shared (pg_locks ShareLock): one transaction or session that touches
  exclusive, ///< ExclusiveLock: a transition, ours or one in band
};

/// One backend, or one prepared transaction, that holds the gate key or waits for it.
struct gate_lock {
  gate_hold hold = gate_hold::pin;
  std::optional<std::int32_t> pid;         ///< absent: a prepared transaction (F12, it has no backend)
  std::optional<std::string> prepared_gid; ///< set for a prepared transaction
  std::optional<wall_time> backend_start;  ///< with pid: names the backend even when the pid is used again
  std::optional<std::string> user;
  std::optional<std::string> application;
  std::optional<std::string> client_address; ///< as the server sees it; absent on a unix socket
  std::optional<std::int32_t> client_port;
  std::optional<std::string> state;       ///< pg_stat_activity.state, for example `idle in transaction`
  std::optional<elapsed> transaction_age; ///< upper bound of the pin's age: the lock table has no grant time
  std::optional<elapsed> state_age;       ///< since the state last changed: how long it has been idle
  std::optional<elapsed> wait;            ///< waiters only: since when this request waits
  std::optional<std::string>
      query; ///< whole inside the transition; what leaves proxy/control is as `log.statements` allows
  std::optional<std::string> sidecar;    ///< the sidecar it is reached through, where that is known
  std::optional<std::string> client;     ///< the client behind that sidecar, when it is this one
  bool waits_for_applier = false;        ///< holds the gate and waits for the applier key (F8)
  std::optional<std::string> wait_event; ///< pg_stat_activity.wait_event, for example `SyncRep` (F25)
  /// Its state is active, but it waits for its client's next message: a batch that was never Synced. A COPY
  /// does not count.
  bool waits_for_client = false;

  /// How long this one has most likely held the gate: its transaction's age, or for a session-level hold
  /// outside a transaction the time since its state changed.
  std::optional<elapsed> age() const { return transaction_age ? transaction_age : state_age; }
  /// Whether nothing runs in it, so that it holds the gate until its client says something.
  bool is_idle() const { return waits_for_client || (state && state->starts_with("idle")); }
};

/// One reading. `holders` and `waiters` are in the server's order of age, oldest first.
struct pin_snapshot {
  wall_time observed_at{};
  std::vector<gate_lock> holders;
  std::vector<gate_lock> waiters;

  std::size_t pins_held() const;
  std::size_t pins_waiting() const;
  /// Age of the oldest pin that is held; absent when none is held.
  std::optional<elapsed> oldest_pin_age() const;
  /// Longest wait among the pins that wait now; zero when none waits.
  elapsed longest_pin_wait() const;
};

} // namespace ledgergate::transition
