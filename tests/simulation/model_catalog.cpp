// What the model server answers to the texts of proxy/transition/statements.hpp: the control row, pg_locks as
// the pin watch reads it, pg_xact_status.
#include <algorithm>

#include "tests/simulation/model_backend.hpp"

namespace ledgergate::simulation {

namespace {

std::string seconds(virtual_time since, virtual_time now) {
  return std::to_string(static_cast<double>(now - since) / 1e6);
}

} // namespace

/// The columns of statements::read_pins().
void model_backend::show_pins() {
  const auto row = [this](lock_holder holder, lock_mode mode, bool granted) {
    std::vector<std::optional<std::string>> columns(15);
    columns[0] = mode == lock_mode::shared ? "ShareLock" : "ExclusiveLock";
    columns[1] = granted ? "t" : "f";
    columns[14] = "f";
    if (holder < 0) {
      for (const auto& [gid, kept] : database_.prepared)
        if (kept.holder == holder) columns[3] = gid;
      columns[10] = "1.0";
    } else {
      const backend_facts& facts = database_.backends[holder];
      columns[2] = std::to_string(holder);
      columns[9] = facts.idle ? "idle in transaction" : "active";
      if (facts.in_transaction) columns[10] = seconds(facts.transaction_started, database_.now);
      if (!granted) columns[12] = seconds(facts.waiting_since, database_.now);
      columns[14] = database_.locks.waits_for(holder) == applier_key ? "t" : "f";
    }
    send_row(columns);
  };
  for (const lock_holder holder : database_.locks.holders(gate_key))
    row(holder, *database_.locks.mode_held(holder, gate_key), true);
  for (const lock_holder holder : database_.locks.waiters(gate_key))
    row(holder, database_.locks.mode_wanted(holder).value_or(lock_mode::shared), false);
}

void model_backend::show_known(const model_statement& statement) {
  switch (statement.known) {
  case known_query::none: return;
  case known_query::control_row:
    send_row(
        {database_.mode, std::to_string(database_.mode_writer), std::to_string(database_.next_transaction)});
    return;
  case known_query::pins: show_pins(); return;
  case known_query::rival: return;
  case known_query::standbys: send_row({"", "on", "0", "0"}); return;
  case known_query::grant_facts: {
    const auto waiters = database_.locks.waiters(gate_key);
    const auto pins = std::count_if(waiters.begin(), waiters.end(), [this](lock_holder holder) {
      return database_.locks.mode_wanted(holder) == lock_mode::shared;
    });
    assign_transaction_id();
    send_row({std::to_string(pins), std::nullopt, std::to_string(transaction_.id)});
    return;
  }
  case known_query::outcome: {
    const std::uint64_t id = std::stoull(statement.value);
    const bool committed = database_.committed.contains(id);
    send_row({committed ? "committed" : database_.running.contains(id) ? "in progress" : "aborted"});
    return;
  }
  }
}

} // namespace ledgergate::simulation
