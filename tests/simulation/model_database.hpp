// What the model server's backends share: locks, transaction ids, the control row, prepared transactions,
// time. And what is asked of every backend that touches the ledger, by whoever watches.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/lock_manager.hpp"

namespace ledgergate::simulation {

/// Virtual time in microseconds since the world began.
using virtual_time = std::int64_t;
inline constexpr virtual_time one_millisecond = 1000;

struct model_snapshot {
  std::uint64_t xmin = 0;
  std::uint64_t xmax = 0;
  std::vector<std::uint64_t> running;
  std::uint64_t mode_writer = 0; ///< the transaction whose mode it sees
  bool gate_held = false;        ///< by the backend, in any mode, when it was taken
  bool gate_exclusive = false;

  bool sees(std::uint64_t transaction) const {
    if (transaction < xmin) return true;
    if (transaction >= xmax) return false;
    for (const std::uint64_t other : running)
      if (other == transaction) return false;
    return true;
  }
};

/// One touch: a statement that looks at the ledger or at the control row.
struct touch {
  lock_holder holder = 0;
  model_snapshot snapshot;
  bool fixed_snapshot = false; ///< REPEATABLE READ or SERIALIZABLE
  bool read_only = false;
  bool changes_mode = false;
};

/// Told by the backends; the oracle of the simulation. Every default does nothing: the server that a client's
/// answers are compared with has none.
class server_watcher {
 public:
  virtual ~server_watcher() = default;
  virtual void touched(const touch&) {}
  /// The transaction has ended or failed as a whole; its locks are still held.
  virtual void transaction_over(lock_holder) {}
  virtual void transaction_prepared(lock_holder /*from*/, lock_holder /*to*/) {}
  virtual void mode_committed(lock_holder) {}
  virtual void gate_queued(lock_holder, lock_mode) {}
};

struct prepared_transaction {
  lock_holder holder = 0;
  std::uint64_t transaction = 0;
  bool fails_at_commit = false;
  std::string new_mode;              ///< empty: unchanged
  std::map<std::string, bool> views; ///< that it defines
};

struct backend_facts {
  virtual_time transaction_started = 0;
  virtual_time waiting_since = 0;
  bool in_transaction = false;
  bool idle = true;
};

struct model_database {
  lock_manager locks;
  std::map<std::string, prepared_transaction> prepared;
  std::map<std::string, bool> views; ///< committed: whether they lead to the ledger
  std::map<lock_holder, backend_facts> backends;
  std::uint64_t next_transaction = 1000;
  std::set<std::uint64_t> running;
  std::set<std::uint64_t> committed;
  std::string mode = "shadow";
  std::uint64_t mode_writer = 999;
  lock_holder next_prepared = -1;
  virtual_time now = 0;

  model_snapshot take_snapshot(lock_holder holder) const {
    model_snapshot out;
    out.xmax = next_transaction;
    out.xmin = running.empty() ? next_transaction : *running.begin();
    out.running.assign(running.begin(), running.end());
    out.mode_writer = mode_writer;
    const auto held = locks.mode_held(holder, 1263879245);
    out.gate_held = held.has_value();
    out.gate_exclusive = held == lock_mode::exclusive;
    return out;
  }
};

} // namespace ledgergate::simulation
