// Every SQL text of a transition and of the pin watch, built from the settings. Texts go through the simple
// protocol, so that several statements cost one round trip; every name of PostgreSQL's own is qualified with
// pg_catalog (a hostile search_path must not redirect the lock). "Set one" and so on in the comments count
// the sets that have columns.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/transition/transition_record.hpp"

namespace ledgergate::transition {

class statements {
 public:
  /// `id` marks the texts of one transition with a comment, by which another sidecar can name it; empty for
  /// the watch.
  statements(std::shared_ptr<const config::settings> settings, std::string id);

  /// Rows of the control row, at most two: mode, version token (xmin), the next transaction id as xid8.
  std::string read_control_row() const;
  /// Rows for read_pins() (rows.hpp): everybody who holds the gate key or waits for it.
  std::string read_pins() const;

  /// Ends a holder of the gate that has been idle for so long. One row, true when it was told to end; no row
  /// when it is gone, busy, or does not hold the gate any more. Not marked: runs on the watch connection.
  std::string evict(const gate_lock& holder, std::chrono::milliseconds idle_for) const;

  /// Rows for read_control_sessions() (fleet.hpp): the control sessions of all sidecars in this database.
  std::string read_fleet() const;
  /// Sets for read_plan_facts() (plan.hpp): control row, pins, standbys, the slot's holder, the applier
  /// lock's holder, what the server allows, control sessions, clients' sessions.
  std::string plan() const;

  /// One row: true when this session may run the one transition of this database. Held until release_slot().
  std::string take_slot() const;
  std::string release_slot() const;
  /// Rows: application name and running text of whoever holds the slot.
  std::string read_rival() const;

  /// One row: whether the audit table is there.
  std::string find_audit_table() const;
  /// Rows for read_history() (history.hpp): the newest entries of the audit table.
  std::string read_history() const;

  /// BEGIN at READ COMMITTED. Set one: the control row. Set two, one row: whether the audit table is there.
  std::string begin() const;
  std::string take_applier(std::chrono::milliseconds lock_timeout) const;
  /// Set one: the pins. Set two: the state of synchronous replication.
  std::string look() const;
  std::string queue(std::chrono::milliseconds lock_timeout) const;
  /// Set one: the control row. Set two, one row: number and longest wait of the pins that wait, and the
  /// transaction's id.
  std::string check(std::chrono::milliseconds rest, std::chrono::milliseconds lock_timeout) const;
  /// A guard or a step under the rest of the hold budget.
  std::string configured(std::string_view sql, std::chrono::milliseconds rest) const;
  /// One row: mode, version token, transaction id (xid8).
  std::string change(std::string_view to, std::chrono::milliseconds rest) const;
  /// The audit table's entry when there is one, deferred constraints, then NOTIFY, then no more timeout: a
  /// commit must not be cancelled (F25).
  std::string seal(const transition_record& record, std::chrono::milliseconds rest) const;
  std::string commit() const;
  std::string rollback() const;
  /// The slot, then what the change cost into its entry: that may fail without harm.
  std::string release_slot_and_complete(const transition_record& record) const;
  /// ROLLBACK, then the slot.
  std::string rollback_and_release() const;
  /// Set one: what became of the transaction. Set two: the control row.
  std::string read_outcome(std::string_view transaction_id) const;

 private:
  std::string marked(std::string text) const;

  std::shared_ptr<const config::settings> settings_;
  std::string mark_;
  std::string slot_; ///< the two int4 of the slot's advisory key, as arguments
};

/// The comment that marks a transition's texts: the id in `text`, or nothing.
std::string transition_id_in(std::string_view text);

} // namespace ledgergate::transition
