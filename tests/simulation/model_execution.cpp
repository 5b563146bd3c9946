// What statements do in the model server: snapshots, looks, locks, COPY, procedures.
#include <algorithm>

#include "protocol/tags.hpp"
#include "tests/simulation/model_awaiters.hpp"

namespace ledgergate::simulation {

namespace backend = protocol::backend;
namespace frontend = protocol::frontend;

/// At READ COMMITTED each statement has its own, above that the transaction has one.
model_snapshot model_backend::take_snapshot() {
  transaction_.snapshot_taken = true;
  if (transaction_.level == isolation::read_committed) return database_.take_snapshot(id_);
  if (!transaction_.fixed) transaction_.fixed = database_.take_snapshot(id_);
  return *transaction_.fixed;
}

void model_backend::assign_transaction_id() {
  if (transaction_.id != 0) return;
  transaction_.id = database_.next_transaction++;
  database_.running.insert(transaction_.id);
}

/// As this transaction sees it; nothing when there is no such view.
std::optional<bool> model_backend::view_leads(const std::string& view) const {
  const auto& effects = transaction_.effects;
  const auto own =
      std::find_if(effects.rbegin(), effects.rend(), [&](const effect& what) { return what.view == view; });
  if (own != effects.rend()) return own->view_leads;
  const auto found = database_.views.find(view);
  return found == database_.views.end() ? std::nullopt : std::optional(found->second);
}

outcome model_backend::define_view(const model_statement& statement) {
  if (transaction_.read_only)
    return model_error{"25006", "cannot execute CREATE VIEW in a read-only transaction"};
  if (view_leads(statement.view) && !statement.replace)
    return model_error{"42P07", "relation already exists"};
  assign_transaction_id();
  transaction_.effects.push_back({depth(), false, {}, statement.view, statement.looks});
  return std::nullopt;
}

void model_backend::look(const model_statement& statement, const model_snapshot& snapshot) {
  const bool through_view = !statement.view.empty() && view_leads(statement.view).value_or(false);
  if (!statement.looks && !through_view) return;
  touch what;
  what.holder = id_;
  what.snapshot = snapshot;
  what.fixed_snapshot = transaction_.level != isolation::read_committed;
  what.read_only = transaction_.read_only;
  what.changes_mode = statement.changes_mode;
  watcher_.touched(what);
}

task<outcome> model_backend::acquire(lock_key key, lock_mode mode, lock_owner owner) {
  const bool gate = key == gate_key;
  const bool held = database_.locks.holds(id_, key, mode);
  auto result = database_.locks.request(id_, key, mode, owner);
  if (result == lock_manager::wait_result::waits) {
    if (gate && !held) watcher_.gate_queued(id_, mode);
    wait_end_ = wait_end::none;
    database_.backends[id_].waiting_since = database_.now;
    deadlock_look_ = database_.now + std::stoll(settings["deadlock_timeout"]) * one_millisecond;
    const virtual_time limit = std::stoll(settings["lock_timeout"]) * one_millisecond;
    lock_deadline_.reset();
    if (limit > 0) lock_deadline_ = database_.now + limit;
    lock_wait waiting{*this};
    co_await waiting;
    const wait_end end = std::exchange(wait_end_, wait_end::none);
    if (end == wait_end::cancelled) {
      cancelled_ = false;
      co_return model_error{"57014", "canceling statement due to user request"};
    }
    if (end == wait_end::timed_out) co_return model_error{"55P03", "canceling statement due to lock timeout"};
    result = database_.locks.poll(id_);
  }
  if (result == lock_manager::wait_result::deadlock) co_return model_error{"40P01", "deadlock detected"};
  co_return std::nullopt;
}

task<outcome> model_backend::run_advisory(statement_pointer statement) {
  for (const advisory_call& call : statement->advisory) {
    const lock_owner owner = call.session ? session_owner : depth();
    switch (call.what) {
    case advisory_call::kind::lock: {
      const outcome error = co_await acquire(call.key, call.mode, owner);
      if (error) co_return error;
      result_.emplace_back("");
      break;
    }
    case advisory_call::kind::unlock: {
      const bool owned = database_.locks.release_session_lock(id_, call.key, call.mode);
      if (!owned) send_notice("01000", "you don't own a lock of type ..");
      result_.emplace_back(owned ? "t" : "f");
      break;
    }
    case advisory_call::kind::unlock_all:
      database_.locks.release_session_locks(id_);
      result_.emplace_back("");
      break;
    case advisory_call::kind::try_lock: {
      const auto got = database_.locks.request(id_, call.key, call.mode, owner);
      if (got != lock_manager::wait_result::granted) database_.locks.give_up(id_);
      result_.emplace_back(got == lock_manager::wait_result::granted ? "t" : "f");
      break;
    }
    }
  }
  co_return std::nullopt;
}

/// SELECT and DML, from their snapshot on.
task<outcome> model_backend::run_data(statement_pointer statement, model_snapshot snapshot) {
  result_.clear();
  pause here{*this};
  outcome error = co_await here;
  if (error) co_return error;
  if (!statement->view.empty() && !view_leads(statement->view))
    co_return model_error{"42P01", "relation does not exist"};
  if ((statement->writes || statement->changes_mode) && transaction_.read_only)
    co_return model_error{"25006", "cannot execute in a read-only transaction"};
  if (describe_rows_ && statement->what == verb::select)
    send_row_description(statement->known == known_query::none ? 1 : 15);
  look(*statement, snapshot);
  error = co_await run_advisory(statement);
  if (error) co_return error;
  if (statement->row) {
    error = co_await acquire(*statement->row, lock_mode::exclusive, depth());
    if (error) co_return error;
    const bool stale = transaction_.level != isolation::read_committed && statement->changes_mode &&
                       !snapshot.sees(database_.mode_writer) && database_.mode_writer != transaction_.id;
    if (stale) co_return model_error{"40001", "could not serialize access due to concurrent update"};
  }
  error = co_await here;
  if (error) co_return error;
  if (statement->writes) {
    assign_transaction_id();
    if (statement->sets_mode) transaction_.effects.push_back({depth(), false, statement->value, {}, false});
    if (statement->fails == failure::commit) transaction_.effects.push_back({depth(), true, {}, {}, false});
  }
  if (statement->known != known_query::none) {
    show_known(*statement);
  } else if (statement->what == verb::select) {
    if (result_.empty()) result_.emplace_back(statement->value.empty() ? "1" : statement->value);
    for (unsigned i = 0; i < statement->rows; ++i)
      send_row(result_);
  } else if (statement->returning && statement->fails != failure::execution) {
    // A statement that modifies runs to its end first (PORTAL_ONE_RETURNING).
    if (describe_rows_) send_row_description(3);
    const std::string id = std::to_string(transaction_.id);
    send_row({statement->value, id, id});
  }
  if (statement->fails == failure::execution) co_return model_error{"22012", "division by zero"};
  co_return std::nullopt;
}

/// The body of a procedure or DO block. It may commit in its middle, unless it runs inside a block.
task<outcome> model_backend::run_body(statement_pointer statement, bool atomic) {
  pause here{*this};
  outcome error = co_await here;
  if (error) co_return error;
  if (statement->looks) {
    if (transaction_.read_only) co_return model_error{"25006", "cannot execute in a read-only transaction"};
    look(*statement, take_snapshot());
    assign_transaction_id();
  }
  if (!statement->commits_inside) co_return std::nullopt;
  if (atomic) co_return model_error{"2D000", "invalid transaction termination"};
  error = commit_transaction();
  if (error) {
    block_ = block::none;
    co_return error;
  }
  begin_transaction();
  error = co_await here;
  if (error) co_return error;
  look(*statement, take_snapshot());
  assign_transaction_id();
  co_return std::nullopt;
}

/// While COPY reads, Flush and Sync are eaten and anything but its own messages is an error.
task<outcome> model_backend::run_copy_in(statement_pointer statement) {
  if (statement->fails == failure::analysis) co_return model_error{"42703", "column does not exist"};
  if (transaction_.read_only)
    co_return model_error{"25006", "cannot execute COPY FROM in a read-only transaction"};
  const model_snapshot snapshot = take_snapshot();
  look(*statement, snapshot);
  send(backend::copy_in_response, std::string_view("\0\0\1\0\0", 5));
  flush();
  std::size_t count = 0;
  for (;;) {
    next_message reading{*this};
    const incoming message = co_await reading;
    if (message.tag == frontend::copy_data) {
      const bool refused = message.body.find_first_not_of("0123456789\n") != std::string::npos;
      if (refused) co_return model_error{"22P02", "invalid input syntax for type integer"};
      ++count;
    }
    if (message.tag == frontend::copy_fail) co_return model_error{"57014", "COPY from stdin failed"};
    if (message.tag == frontend::copy_done) break;
    const bool eaten =
        message.tag == frontend::copy_data || message.tag == frontend::flush || message.tag == frontend::sync;
    out_of_step_ = !eaten;
    if (!eaten) co_return model_error{"08P01", "unexpected message type during COPY from stdin"};
  }
  look(*statement, snapshot);
  assign_transaction_id();
  tag_ += " " + std::to_string(count);
  co_return std::nullopt;
}

const model_statement* model_backend::rows_of(const model_statement& statement) const {
  if (statement.what != verb::execute) return statement.returns_rows() ? &statement : nullptr;
  const auto found = statements_.find(statement.name);
  if (found == statements_.end() || found->second.statement == nullptr) return nullptr;
  return found->second.statement->returns_rows() ? found->second.statement.get() : nullptr;
}

task<outcome> model_backend::run_execute(statement_pointer statement) {
  const auto found = statements_.find(statement->name);
  if (found == statements_.end()) co_return model_error{"26000", "prepared statement does not exist"};
  const statement_pointer inner = found->second.statement;
  if (inner == nullptr) co_return std::nullopt;
  if (inner->what != verb::select && inner->what != verb::modify)
    co_return model_error{"42601", "EXECUTE of a utility statement"};
  if (inner->fails == failure::planning) co_return model_error{"22012", "division by zero"};
  tag_ = inner->tag + " " + std::to_string(inner->rows);
  const model_snapshot snapshot = take_snapshot();
  const outcome error = co_await run_data(inner, snapshot);
  co_return error;
}

task<outcome> model_backend::fetch(statement_pointer statement) {
  const auto found = portals_.find(statement->name);
  if (found == portals_.end()) co_return model_error{"34000", "cursor does not exist"};
  if (describe_rows_) send_row_description(1);
  const portal& cursor = found->second;
  if (!cursor.held && cursor.snapshot) look(*cursor.statement, *cursor.snapshot);
  if (cursor.statement->fails == failure::execution) co_return model_error{"22012", "division by zero"};
  const bool more = !found->second.done;
  if (more) send_row({"1"});
  found->second.done = true;
  tag_ = more ? "FETCH 1" : "FETCH 0";
  co_return std::nullopt;
}

outcome model_backend::declare(const model_statement& statement) {
  if (!in_block() && !statement.hold)
    return model_error{"25P01", "DECLARE CURSOR can only be used in transaction blocks"};
  if (portals_.contains(statement.name)) return model_error{"42P03", "cursor already exists"};
  if (statement.inner->fails == failure::planning) return model_error{"22012", "division by zero"};
  portal cursor;
  cursor.statement = statement.inner;
  cursor.snapshot = take_snapshot();
  cursor.hold = statement.hold;
  look(*cursor.statement, *cursor.snapshot);
  portals_[statement.name] = cursor;
  return std::nullopt;
}

void model_backend::set(const std::string& name, std::optional<std::string> value, bool local) {
  const auto found = settings.find(name);
  const std::optional<std::string> before =
      found == settings.end() ? std::optional<std::string>("") : found->second;
  transaction_.changes.push_back({depth(), local, name, before});
  settings[name] = value.value_or(name == "default_transaction_isolation" ? "read committed" : "");
  if (name == "lock_timeout" && settings[name].empty()) settings[name] = "0";
}

/// The unnamed statement is no part of what DEALLOCATE ALL and DISCARD ALL drop.
void model_backend::forget_statements() {
  std::erase_if(statements_, [](const auto& entry) { return !entry.first.empty(); });
}

/// Statements on the session itself.
outcome model_backend::run_session(const model_statement& statement, bool several) {
  switch (statement.what) {
  case verb::set: set(statement.name, statement.value, !statement.hold); return std::nullopt;
  case verb::reset: set(statement.name, std::nullopt, false); return std::nullopt;
  case verb::prepare:
    if (statements_.contains(statement.name))
      return model_error{"42P05", "prepared statement already exists"};
    if (statement.inner->fails == failure::analysis) return model_error{"42703", "column does not exist"};
    statements_[statement.name] = {statement.inner, true};
    return std::nullopt;
  case verb::deallocate:
    if (statements_.erase(statement.name) == 0)
      return model_error{"26000", "prepared statement does not exist"};
    return std::nullopt;
  case verb::deallocate_all: forget_statements(); return std::nullopt;
  case verb::discard_all:
    if (const outcome error = only_outside("DISCARD ALL", several)) return error;
    std::erase_if(portals_, [](const auto& entry) { return !entry.first.empty(); });
    forget_statements();
    set("default_transaction_isolation", std::nullopt, false);
    set("application_name", std::nullopt, false);
    database_.locks.release_session_locks(id_);
    return std::nullopt;
  case verb::discard_some: return std::nullopt;
  case verb::close_cursor:
    if (portals_.erase(statement.name) == 0) return model_error{"34000", "cursor does not exist"};
    return std::nullopt;
  case verb::lock_table:
    if (!in_block()) return model_error{"25P01", "LOCK TABLE can only be used in transaction blocks"};
    look(statement, database_.take_snapshot(id_));
    return std::nullopt;
  case verb::commit_prepared:
  case verb::rollback_prepared:
    if (const outcome error = only_outside(statement.tag, several)) return error;
    return finish_prepared(statement);
  default: return std::nullopt;
  }
}

task<outcome> model_backend::run_statement(statement_pointer statement,
                                           std::optional<model_snapshot> snapshot, bool several) {
  tag_ = statement->tag;
  outcome error;
  if (statement->run_takes_snapshot()) (void)take_snapshot();
  switch (statement->what) {
  case verb::select:
  case verb::modify:
    tag_ += " " + std::to_string(statement->rows);
    if (!snapshot) snapshot = take_snapshot();
    error = co_await run_data(statement, *snapshot);
    break;
  case verb::call:
  case verb::do_block: error = co_await run_body(statement, in_block()); break;
  case verb::execute: error = co_await run_execute(statement); break;
  case verb::fetch: error = co_await fetch(statement); break;
  case verb::copy_in: error = co_await run_copy_in(statement); break;
  case verb::copy_out:
    look(*statement, take_snapshot());
    send(backend::copy_out_response, std::string_view("\0\0\1\0\0", 5));
    send(backend::copy_data, "1\n");
    send(backend::copy_done);
    tag_ += " 1";
    break;
  case verb::declare: error = declare(*statement); break;
  case verb::define_view: error = define_view(*statement); break;
  default:
    error = statement->is_transaction_control() && statement->what != verb::commit_prepared &&
                    statement->what != verb::rollback_prepared
                ? control(*statement)
            : statement->what == verb::set_transaction ? control(*statement)
                                                       : run_session(*statement, several);
    break;
  }
  co_return error;
}

} // namespace ledgergate::simulation
