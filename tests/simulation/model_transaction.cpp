// Transactions of the model server: xact.c.
#include <algorithm>

#include "tests/simulation/model_backend.hpp"

namespace ledgergate::simulation {

void model_backend::begin_transaction() {
  transaction_ = {};
  const std::string& level = settings["default_transaction_isolation"];
  const bool high = level == "repeatable read" || level == "serializable";
  transaction_.level = high ? isolation::repeatable_read : isolation::read_committed;
  database_.backends[id_].transaction_started = database_.now;
}

void model_backend::start_command() {
  if (block_ != block::none) return;
  begin_transaction();
  block_ = block::started;
}

/// The end of a command: a transaction of one command ends with it, and what COMMIT and the like asked for is
/// done.
outcome model_backend::finish_command() {
  const ending how = std::exchange(ending_, ending::none);
  if (how == ending::none && block_ != block::started) return std::nullopt;
  const bool chain = std::exchange(chain_, false);
  const isolation level = transaction_.level;
  const bool read_only = transaction_.read_only;
  outcome error;
  switch (how) {
  case ending::none:
  case ending::commit: error = commit_transaction(); break;
  case ending::prepare: error = prepare_transaction(); break;
  case ending::rollback: abort_transaction(); break;
  }
  block_ = block::none;
  if (error || !chain) return error;
  begin_transaction();
  transaction_.level = level;
  transaction_.read_only = read_only;
  block_ = block::open;
  return std::nullopt;
}

void model_backend::abort_command() {
  ending_ = ending::none;
  chain_ = false;
  switch (block_) {
  case block::none:
  case block::failed: return;
  case block::started:
  case block::implicit:
    abort_transaction();
    block_ = block::none;
    return;
  case block::open:
    if (depth() > 0) {
      // The innermost subtransaction has failed and lost its locks (F5); ROLLBACK TO begins it again.
      abort_subtransactions(transaction_.savepoints.size());
    } else {
      end_resources(false);
    }
    block_ = block::failed;
    return;
  }
}

outcome model_backend::commit_transaction() {
  const bool refused = std::any_of(transaction_.effects.begin(), transaction_.effects.end(),
                                   [](const effect& what) { return what.fails_at_commit; });
  if (refused) {
    abort_transaction();
    return model_error{"23503", "refused"};
  }
  end_resources(true);
  revert_settings(0, true);
  return std::nullopt;
}

void model_backend::abort_transaction() {
  end_resources(false);
  std::erase_if(portals_, [](const auto& entry) { return !entry.second.held; });
  revert_settings(0, false);
}

/// Locks go last: whoever waits for them sees what was committed.
void model_backend::end_resources(bool committed) {
  if (transaction_.over) return;
  transaction_.over = true;
  if (committed) {
    for (const effect& what : transaction_.effects) {
      if (!what.view.empty()) database_.views[what.view] = what.view_leads;
      if (what.new_mode.empty()) continue;
      watcher_.mode_committed(id_);
      database_.mode = what.new_mode;
      database_.mode_writer = transaction_.id;
    }
    if (transaction_.id != 0) database_.committed.insert(transaction_.id);
  }
  if (transaction_.id != 0) database_.running.erase(transaction_.id);
  for (auto at = portals_.begin(); committed && at != portals_.end();) {
    portal& what = at->second;
    if (what.hold) what.held = true;
    at = what.held ? std::next(at) : portals_.erase(at);
  }
  watcher_.transaction_over(id_);
  database_.locks.end_transaction(id_);
}

outcome model_backend::prepare_transaction() {
  const bool refused = std::any_of(transaction_.effects.begin(), transaction_.effects.end(),
                                   [](const effect& what) { return what.fails_at_commit; });
  if (refused) {
    abort_transaction();
    return model_error{"23503", "refused"};
  }
  if (database_.prepared.contains(gid_)) {
    abort_transaction();
    unsure_ = true; // somebody else may have ended it
    return model_error{"42710", "transaction identifier is already in use"};
  }
  if (!database_.locks.can_prepare(id_)) {
    abort_transaction();
    return model_error{"0A000",
                       "cannot PREPARE while holding both session-level and transaction-level locks"};
  }
  prepared_transaction kept;
  kept.holder = database_.next_prepared--;
  assign_transaction_id();
  kept.transaction = transaction_.id;
  for (const effect& what : transaction_.effects) {
    if (!what.new_mode.empty()) kept.new_mode = what.new_mode;
    if (!what.view.empty()) kept.views[what.view] = what.view_leads;
  }
  database_.locks.hand_over_transaction(id_, kept.holder);
  watcher_.transaction_prepared(id_, kept.holder);
  database_.prepared[gid_] = kept;
  transaction_.over = true;
  std::erase_if(portals_, [](const auto& entry) { return !entry.second.held; });
  revert_settings(0, true);
  return std::nullopt;
}

outcome model_backend::finish_prepared(const model_statement& statement) {
  const auto found = database_.prepared.find(statement.name);
  if (found == database_.prepared.end()) {
    unsure_ = true;
    return model_error{"42704", "prepared transaction does not exist"};
  }
  const prepared_transaction kept = found->second;
  database_.prepared.erase(found);
  if (statement.what == verb::commit_prepared) {
    if (!kept.new_mode.empty()) {
      watcher_.mode_committed(kept.holder);
      database_.mode = kept.new_mode;
      database_.mode_writer = kept.transaction;
    }
    database_.committed.insert(kept.transaction);
    for (const auto& [view, leads] : kept.views)
      database_.views[view] = leads;
  }
  database_.running.erase(kept.transaction);
  watcher_.transaction_over(kept.holder);
  database_.locks.end_transaction(kept.holder);
  return std::nullopt;
}

/// Rolls back the subtransactions from the `down_to`-th (counted from 1) inwards; their savepoints stay.
void model_backend::abort_subtransactions(std::size_t down_to) {
  const int lowest = static_cast<int>(down_to);
  std::erase_if(transaction_.effects, [&](const effect& what) { return what.depth >= lowest; });
  revert_settings(lowest, false);
  auto& before = transaction_.read_only_before;
  for (; !before.empty() && before.back().first >= lowest; before.pop_back())
    transaction_.read_only = before.back().second;
  database_.locks.abort_subtransaction(id_, lowest);
}

void model_backend::revert_settings(int depth, bool committed) {
  auto& changes = transaction_.changes;
  while (!changes.empty() && changes.back().depth >= depth) {
    const setting_change change = std::move(changes.back());
    changes.pop_back();
    if (committed && !change.local) continue;
    if (change.before) settings[change.name] = *change.before;
  }
}

outcome model_backend::set_characteristics(const model_statement& statement) {
  if (statement.level && *statement.level != transaction_.level) {
    if (transaction_.snapshot_taken)
      return model_error{"25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query"};
    if (depth() > 0)
      return model_error{"25001", "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction"};
    transaction_.level = *statement.level;
  }
  if (statement.read_only) {
    if (!*statement.read_only && transaction_.read_only && transaction_.snapshot_taken)
      return model_error{"25001", "transaction read-write mode must be set before any query"};
    transaction_.read_only_before.emplace_back(depth(), transaction_.read_only);
    transaction_.read_only = *statement.read_only;
  }
  return std::nullopt;
}

outcome model_backend::end_block(const model_statement& statement, ending how) {
  chain_ = false;
  if (block_ == block::started || block_ == block::implicit) {
    if (statement.chain) return model_error{"25P01", "AND CHAIN can only be used in transaction blocks"};
    send_notice("25P01", "there is no transaction in progress");
    if (how == ending::prepare && block_ == block::started) {
      tag_ = "ROLLBACK";
      how = ending::commit;
    }
    ending_ = how;
    return std::nullopt;
  }
  if (block_ == block::failed) {
    tag_ = "ROLLBACK";
    how = ending::rollback;
  }
  ending_ = how;
  chain_ = statement.chain;
  return std::nullopt;
}

outcome model_backend::control(const model_statement& statement) {
  auto& savepoints = transaction_.savepoints;
  const auto named = std::find(savepoints.rbegin(), savepoints.rend(), statement.name);
  const auto index = static_cast<std::size_t>(std::distance(named, savepoints.rend())); // counted from 1
  const bool explicit_block = block_ == block::open || block_ == block::failed;
  switch (statement.what) {
  case verb::begin:
    if (block_ == block::open) {
      send_notice("25001", "there is already a transaction in progress");
    } else {
      block_ = block::open;
    }
    return set_characteristics(statement);
  case verb::commit: return end_block(statement, ending::commit);
  case verb::rollback: return end_block(statement, ending::rollback);
  case verb::prepare_transaction: gid_ = statement.name; return end_block(statement, ending::prepare);
  case verb::savepoint:
    if (!explicit_block) return model_error{"25P01", "SAVEPOINT can only be used in transaction blocks"};
    savepoints.push_back(statement.name);
    return std::nullopt;
  case verb::release:
  case verb::rollback_to:
    if (!explicit_block) return model_error{"25P01", "can only be used in transaction blocks"};
    if (index == 0) return model_error{"3B001", "savepoint does not exist"};
    if (statement.what == verb::release) {
      for (std::size_t inner = savepoints.size(); inner >= index; --inner) {
        database_.locks.commit_subtransaction(id_, static_cast<lock_owner>(inner));
        for (effect& what : transaction_.effects)
          what.depth = std::min(what.depth, static_cast<int>(inner) - 1);
        for (setting_change& change : transaction_.changes)
          change.depth = std::min(change.depth, static_cast<int>(inner) - 1);
        for (auto& set : transaction_.read_only_before)
          set.first = std::min(set.first, static_cast<int>(inner) - 1);
      }
      savepoints.resize(index - 1);
      return std::nullopt;
    }
    abort_subtransactions(index);
    savepoints.resize(index);
    block_ = block::open;
    return std::nullopt;
  case verb::set_transaction:
    if (block_ == block::started)
      send_notice("25P01", "SET TRANSACTION can only be used in transaction blocks");
    return set_characteristics(statement);
  default: return std::nullopt;
  }
}

/// PreventInTransactionBlock.
outcome model_backend::only_outside(std::string_view what, bool several) const {
  if (!in_block() && !several && !transaction_.pipelined) return std::nullopt;
  return model_error{"25001", std::string(what) + " cannot run inside a transaction block"};
}

} // namespace ledgergate::simulation
