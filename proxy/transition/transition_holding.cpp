// The transition engine from the grant to the outcome: compare again, guards, steps, change, commit, and the
// doubt after it.
#include <algorithm>
#include <utility>

#include "proxy/transition/engine_limits.hpp"
#include "proxy/transition/transition_engine.hpp"

namespace ledgergate::transition {

namespace {

const std::vector<std::string>& texts_for(const std::map<std::string, std::vector<std::string>>& by_mode,
                                          const std::string& mode) {
  static const std::vector<std::string> none;
  const auto found = by_mode.find(mode);
  return found == by_mode.end() ? none : found->second;
}

/// The result of the last statement of a text that returns rows.
const result_set* last_set_with_columns(const sql_result& result) {
  for (auto set = result.sets.rbegin(); set != result.sets.rend(); ++set) {
    if (set->column_count != 0) return &*set;
  }
  return nullptr;
}

} // namespace

milliseconds transition_engine::hold_rest() const {
  return std::chrono::duration_cast<milliseconds>(hold_until_ - now_);
}

/// What a failure is put down to: a guard while guards run, else a step.
abort_reason transition_engine::blame() const {
  return phase_ == phase::guarding ? abort_reason::guard : abort_reason::step;
}

void transition_engine::granted() {
  book_.end_attempt(attempt_outcome::granted, std::nullopt, now_);
  enter(transition_state::holding, "holds the gate");
  publish();
  next_guard_ = next_step_ = 0;
  grant_facts_ = {};
  hold_until_ = std::min(deadline_, now_ + book_.record().hold_budget);
  if (hold_rest() < milliseconds(1)) {
    abort_by_deadline("the deadline passed when the gate was granted");
    return;
  }
  // F31: a wait of ours that ends before another backend looks for deadlocks never makes that one the victim,
  // not even when the circle closes only after our own short deadlock_timeout.
  const auto lock_limit = std::max(milliseconds(1), std::min(hold_rest(), deadlock_timeout_ / 2));
  run(phase::checking, statements_.check(hold_rest(), lock_limit), hold_rest());
}

/// False: the statement failed, or it ended the transaction, and that was dealt with.
bool transition_engine::hold_continues(const sql_result& result) {
  if (result.error) {
    hold_failed(*result.error);
    return false;
  }
  if (result.status != transaction_status::in_transaction) {
    abort(blame(), "a statement of the transition ended its transaction");
    return false;
  }
  return true;
}

void transition_engine::hold_failed(const server_error& error) {
  if (error.sqlstate == deadlock_detected || error.sqlstate == lock_not_available) {
    // G5: gives way to the writer, who goes on; the attempt is over, not the transition.
    book_.fail_granted_attempt(
        error.sqlstate == deadlock_detected ? attempt_outcome::deadlock : attempt_outcome::failed, error);
    give_up("gave way to a writer that held a row the transition needs: " + error.message);
    return;
  }
  if (error.sqlstate != query_canceled) {
    abort(blame(), phase_ == phase::guarding ? "a guard failed" : "a statement of the transition failed",
          error);
  } else if (now_ - statement_started_ < statement_limit_) {
    abort(abort_reason::cancelled, "an administrator cancelled the transition while it held the gate", error);
  } else if (now_ >= deadline_) {
    abort(abort_reason::deadline, "the deadline passed while it held the gate", error);
  } else {
    abort(blame(), "hold_budget was used up", error);
  }
}

/// False: no time left, and that was dealt with.
bool transition_engine::hold_budget_left() {
  if (hold_rest() >= milliseconds(1)) return true;
  if (now_ >= deadline_) {
    abort(abort_reason::deadline, "the deadline passed while it held the gate");
  } else {
    abort(blame(), "hold_budget was used up");
  }
  return false;
}

void transition_engine::checked(const sql_result& result) {
  if (!hold_continues(result)) return;
  const auto* row = set_with_columns(result, 0);
  const auto* facts = set_with_columns(result, 1);
  if (row == nullptr || facts == nullptr) {
    abort(abort_reason::step, "the control row could not be read under the gate");
    return;
  }
  checked_at_ = now_;
  grant_facts_ = read_grant_facts(*facts);
  book_.writer_waited(grant_facts_.longest_wait);
  // G8: compared again under the gate, where nobody else can change it.
  std::string message;
  switch (compare(*row, message)) {
  case comparison::already_there:
    stop_with({transition_state::committed, std::nullopt, std::move(message), std::nullopt});
    return;
  case comparison::differs: abort(abort_reason::conflict, std::move(message)); return;
  case comparison::fits: break;
  }
  phase_ = phase::guarding;
  next_configured();
}

void transition_engine::next_configured() {
  const auto& to = book_.record().to;
  const auto& guards = texts_for(settings_->transitions.guards, to);
  const auto& steps = texts_for(settings_->transitions.steps, to);
  if (!hold_budget_left()) return;
  if (next_guard_ < guards.size()) {
    run(phase::guarding, statements_.configured(guards[next_guard_++], hold_rest()), hold_rest());
  } else if (next_step_ < steps.size()) {
    run(phase::stepping, statements_.configured(steps[next_step_++], hold_rest()), hold_rest());
  } else {
    change();
  }
}

void transition_engine::guard_answered(const sql_result& result) {
  if (!hold_continues(result)) return;
  const auto* set = last_set_with_columns(result);
  const bool holds = set != nullptr && set->rows.size() == 1 && single_value(*set) == "t";
  if (!holds) {
    abort(abort_reason::guard, "guard " + std::to_string(next_guard_) + " for " + book_.record().to +
                                   " did not return one row that is true");
    return;
  }
  next_configured();
}

void transition_engine::step_answered(const sql_result& result) {
  if (hold_continues(result)) next_configured();
}

void transition_engine::change() {
  phase_ = phase::changing;
  if (!hold_budget_left()) return;
  run(phase::changing, statements_.change(book_.record().to, hold_rest()), hold_rest());
}

void transition_engine::changed(const sql_result& result) {
  if (!hold_continues(result)) return;
  const auto* set = set_with_columns(result, 0);
  const auto facts = set == nullptr ? std::nullopt : read_change_facts(*set);
  if (!facts) {
    abort(abort_reason::step, "the change of the control row did not change exactly one row");
    return;
  }
  if (facts->mode != book_.record().to) {
    abort(abort_reason::step,
          "the control row has " + facts->mode + " after the change: a trigger overruled it");
    return;
  }
  // A step that commits and begins anew would have given the gate away in between.
  if (facts->transaction_id != grant_facts_.transaction_id) {
    abort(abort_reason::step, "a guard or step ended the transaction and began another");
    return;
  }
  book_.record().version_after = facts->version;
  if (!hold_budget_left()) return;
  run(phase::sealing, statements_.seal(book_.record(), hold_rest()), hold_rest());
}

void transition_engine::sealed(const sql_result& result) {
  if (!hold_continues(result)) return;
  if (!hold_budget_left()) return;
  if (book_.record().request.rehearse) {
    rehearsed();
    return;
  }
  // F25: not cancelled by any timeout of ours. The watchdog is off too; only a word is said when it takes
  // long.
  run(phase::committing, statements_.commit(), milliseconds(0));
  out_->push_back(action::arm_timer{now_ + commit_notice_after});
}

/// Those that waited when the gate was granted waited until now.
void transition_engine::book_waiters_of_the_grant() {
  if (grant_facts_.pins_waiting == 0) return;
  book_.writer_waited(grant_facts_.longest_wait + std::chrono::duration_cast<elapsed>(now_ - checked_at_));
}

/// All went well but for the commit, which is left out: the same ROLLBACK as after a failure.
void transition_engine::rehearsed() {
  book_.record().rehearsed = true;
  stop_with({transition_state::aborted, std::nullopt,
             "rehearsed: everything but the commit went well and was rolled back; the mode is still " +
                 book_.record().from.value_or("?"),
             std::nullopt});
}

/// F25: while the commit waits for a standby, the session still holds the gate and shows why.
void transition_engine::notice_hanging_commit(const pin_snapshot& pins) {
  const auto own = std::find_if(pins.holders.begin(), pins.holders.end(),
                                [this](const gate_lock& lock) { return lock.pid == backend_pid_; });
  if (own == pins.holders.end() || own->wait_event != "SyncRep") return;
  enter(transition_state::holding,
        "the commit waits for a synchronous standby to confirm it; the gate is held "
        "until one does");
}

void transition_engine::commit_answered(const sql_result& result) {
  if (result.error) {
    abort(abort_reason::step, "the commit failed and everything was rolled back", result.error);
    return;
  }
  if (result.sets.empty() || result.sets.back().command_tag != "COMMIT") {
    abort(abort_reason::step, "the server rolled the transaction back instead of committing it");
    return;
  }
  book_waiters_of_the_grant();
  book_.record().changed = true;
  enter(transition_state::committed, "the mode is " + book_.record().to);
  stop_with({transition_state::committed, std::nullopt, book_.record().message, std::nullopt});
}

void transition_engine::ask_outcome() {
  run(phase::asking, statements_.read_outcome(grant_facts_.transaction_id), short_text_limit);
}

/// pg_xact_status (manual, section 9.27.7): `in progress`, `committed`, `aborted`, or NULL when it is too
/// long ago.
void transition_engine::outcome_answered(const sql_result& result) {
  const auto* status_set = set_with_columns(result, 0);
  const auto* row_set = set_with_columns(result, 1);
  const std::string status = status_set == nullptr ? std::string() : single_value(*status_set);
  bool committed = status == "committed";
  bool aborted = status == "aborted";
  if (status_set != nullptr && status.empty() && row_set != nullptr) {
    // So long ago that only the row itself can tell: it still carries our change, or nobody knows.
    committed = read_control_row(*row_set).version == book_.record().version_after;
  }
  if (result.error && result.error->sqlstate == invalid_parameter_value) {
    // The server has not assigned this id yet: it is a promoted standby that never saw our transaction.
    aborted = true;
  }
  book_.record().error.reset();
  if (committed) {
    book_.record().changed = true;
    stop_with({transition_state::committed, std::nullopt,
               "the mode is " + book_.record().to + "; the connection was lost during the commit",
               std::nullopt});
  } else if (aborted) {
    book_.record().version_after.reset();
    stop_with({transition_state::aborted, abort_reason::step,
               "the connection was lost during the commit and the server rolled everything back",
               last_connection_error_});
  } else {
    enter(transition_state::unknown, status == "in progress"
                                         ? "the server is still committing"
                                         : "the server could not say how the commit ended");
    book_.record().error = result.error;
    publish();
    wait(phase::asking_again_later, now_ + outcome_interval);
  }
}

} // namespace ledgergate::transition
