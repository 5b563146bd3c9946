// The transition engine's way to the gate: slot, compare, applier lock, look, queue, back off.
#include <algorithm>
#include <utility>

#include "proxy/transition/engine_limits.hpp"
#include "proxy/transition/transition_engine.hpp"

namespace ledgergate::transition {

namespace {

/// Somebody holds the gate and waits for the lock that we hold.
bool applier_is_wanted(const transition_record& record) {
  return std::any_of(record.blockers.begin(), record.blockers.end(),
                     [](const gate_lock& lock) { return lock.waits_for_applier; });
}

} // namespace

void transition_engine::take_slot() { run(phase::taking_slot, statements_.take_slot(), short_text_limit); }

void transition_engine::slot_answered(const sql_result& result) {
  if (result.error) {
    refuse_or_abort(admission::kind::unavailable, abort_reason::step,
                    "the transition's slot could not be taken", result.error);
    return;
  }
  slot_held_ = took_slot(result);
  if (slot_held_) {
    begin();
  } else if (admitted_) {
    // Its own session from before a reconnect may still hold it until the server notices that it is gone
    // (F26).
    back_off("another session holds the transition's slot of this database");
  } else {
    run(phase::naming_rival, statements_.read_rival(), short_text_limit);
  }
}

void transition_engine::rival_named(const sql_result& result) {
  admission answer{admission::kind::conflict, {}, "another transition runs on this database", std::nullopt};
  const auto* set = set_with_columns(result, 0);
  if (set != nullptr && !set->rows.empty() && set->rows.front().size() == 2) {
    const auto& row = set->rows.front();
    if (row[0]) answer.message += ", started by " + *row[0];
    answer.conflict_id = transition_id_in(row[1].value_or(""));
  }
  refuse(std::move(answer));
}

void transition_engine::begin() { run(phase::beginning, statements_.begin(), short_text_limit); }

/// Compare-and-set. `to` comes first: a request that is repeated after it succeeded must not be told that it
/// failed.
transition_engine::comparison transition_engine::compare(const result_set& set, std::string& message) {
  const auto row = read_control_row(set);
  const auto& request = book_.record().request;
  if (row.row_count != 1) {
    message = row.row_count == 0 ? "the control row does not exist: insert it with the mode that is in force"
                                 : "control_row.where selects more than one row";
    return comparison::differs;
  }
  book_.record().from = row.mode;
  book_.record().version_before = row.version;
  if (row.mode == request.to) {
    message = "the mode is " + request.to + " already";
    return comparison::already_there;
  }
  const std::string found = row.mode.value_or("NULL");
  if (request.from && row.mode != request.from) {
    message = "the mode is " + found + ", not " + *request.from;
    return comparison::differs;
  }
  if (request.expect_version && row.version != request.expect_version) {
    message =
        "the control row's version is " + row.version.value_or("NULL") + ", not " + *request.expect_version;
    return comparison::differs;
  }
  return comparison::fits;
}

void transition_engine::began(const sql_result& result) {
  const auto* set = set_with_columns(result, 0);
  if (result.error || set == nullptr) {
    refuse_or_abort(admission::kind::unavailable, abort_reason::step, "the control row could not be read",
                    result.error);
    return;
  }
  const auto* audit = set_with_columns(result, 1);
  book_.record().recorded = audit != nullptr && single_value(*audit) == "t";
  std::string message;
  switch (compare(*set, message)) {
  case comparison::already_there:
    if (!admitted_) refusal_ = admission{admission::kind::already_there, {}, message, std::nullopt};
    stop_with({transition_state::committed, std::nullopt, message, std::nullopt});
    return;
  case comparison::differs:
    refuse_or_abort(admission::kind::precondition_failed, abort_reason::conflict, message, std::nullopt);
    return;
  case comparison::fits: break;
  }
  if (!admitted_) {
    admitted_ = true;
    out_->push_back(action::admit{{admission::kind::accepted, {}, {}, std::nullopt}});
    publish();
  }
  if (!settings_->gate.applier_lock_key) {
    look_or_queue();
    return;
  }
  const auto limit =
      std::max(shortest_attempt, std::min(settings_->transitions.applier_timeout, remaining()));
  enter(transition_state::waiting_applier, "waits for the applier lock");
  publish();
  run(phase::taking_applier, statements_.take_applier(limit), limit);
}

void transition_engine::applier_answered(const sql_result& result) {
  if (!result.error) {
    look_or_queue();
  } else if (result.error->sqlstate == deadlock_detected) {
    give_up("the applier lock was part of a deadlock; tries again");
  } else if (result.error->sqlstate == lock_not_available) {
    abort(abort_reason::deadline,
          "the applier lock was not granted within " + std::to_string(statement_limit_.count()) + " ms",
          result.error);
  } else if (result.error->sqlstate == query_canceled) {
    abort(abort_reason::cancelled, "an administrator cancelled the wait for the applier lock", result.error);
  } else {
    abort(abort_reason::step, "the applier lock could not be taken", result.error);
  }
}

void transition_engine::look_or_queue() {
  // When time runs short it tries anyway, and what was seen a moment ago is good enough.
  const bool looked_lately = last_look_ && now_ - *last_look_ < look_interval;
  if (looked_lately && time_is_short() && !standby_missing_) {
    queue();
  } else {
    look();
  }
}

void transition_engine::look() {
  if (book_.record().state != transition_state::waiting_quiet) {
    enter(transition_state::waiting_quiet, "looks who holds the gate");
  }
  last_look_ = now_;
  run(phase::looking, statements_.look(), short_text_limit);
}

/// From here on the last attempts are due: what is left is a stay in the queue and, as far as the request
/// leaves room for it, the hold.
time_point transition_engine::short_from() const {
  const auto& record = book_.record();
  const auto whole = std::chrono::duration_cast<milliseconds>(record.deadline_at - record.started_at);
  return deadline_ - record.queue_budget - std::min(record.hold_budget, whole / 4);
}

bool transition_engine::time_is_short() const { return now_ >= short_from(); }

/// Looks again after the interval, or when time runs short, whichever comes first.
void transition_engine::wait_quietly(std::string message) {
  enter(transition_state::waiting_quiet, std::move(message));
  publish();
  const auto short_moment = std::max(short_from(), now_ + shortest_back_off);
  wait(phase::quiet, std::min(short_moment, now_ + look_interval));
}

void transition_engine::looked(const sql_result& result) {
  const auto* pin_set = set_with_columns(result, 0);
  const auto* standby_set = set_with_columns(result, 1);
  if (result.error || pin_set == nullptr || standby_set == nullptr) {
    abort(abort_reason::step, "the lock table could not be read", result.error);
    return;
  }
  book_.observe(read_pins(*pin_set, book_.wall(now_)), backend_pid_);
  evict_idle();
  const auto& record = book_.record();
  if (applier_is_wanted(record)) {
    // F8: that one waits for the lock we hold, and we would wait for the one it holds.
    give_up("a pin waits for the applier lock: lets it go first");
    return;
  }
  const auto missing = missing_standby(*standby_set);
  standby_missing_ = missing.has_value();
  if (missing) {
    // F25: while the commit hung, every writer would wait behind the gate.
    if (time_is_short()) {
      abort(abort_reason::harm, *missing);
      return;
    }
    wait_quietly(*missing);
    return;
  }
  elapsed oldest{0};
  for (const auto& lock : record.blockers)
    oldest = std::max(oldest, lock.age().value_or(elapsed(0)));
  if (oldest > record.queue_budget && !time_is_short()) {
    // It would most likely outlast the attempt, and every other writer would have waited for nothing.
    wait_quietly("waits without queueing for " + describe_blockers(record));
    return;
  }
  queue();
}

void transition_engine::queue() {
  const auto limit = std::min(book_.record().queue_budget, remaining());
  if (limit < shortest_attempt) {
    abort_by_deadline("the deadline passed before the gate was free");
    return;
  }
  called_off_.reset();
  enter(transition_state::queued, "waits in the gate's queue");
  book_.start_attempt(now_);
  publish();
  run(phase::queueing, statements_.queue(limit), limit);
}

/// Looked at with every observation while it queues.
void transition_engine::call_off_if_needed() {
  const auto& record = book_.record();
  if (record.pins_waiting >= settings_->transitions.max_waiting_pins) {
    called_off_ = attempt_outcome::harm;
  } else if (applier_is_wanted(record)) {
    // F8, with the circle closed after our own look for deadlocks: the next to look would be the writer, as
    // the victim.
    called_off_ = attempt_outcome::deadlock;
  } else {
    return;
  }
  ask_cancel();
}

/// Ends holders that have been idle for `evict_idle_after`. What becomes of them is seen at the next look.
void transition_engine::evict_idle() {
  const auto& after = settings_->transitions.evict_idle_after;
  if (!after) return;
  for (gate_lock& lock : idle_.due(book_.record().blockers, now_, *after)) {
    std::string text = statements_.evict(lock, *after);
    out_->push_back(action::evict_idle{std::move(lock), std::move(text)});
  }
}

void transition_engine::queue_answered(const sql_result& result) {
  if (!result.error) {
    granted();
    return;
  }
  const auto& state = result.error->sqlstate;
  auto how = attempt_outcome::failed;
  std::string message;
  if (state == lock_not_available) {
    how = attempt_outcome::lock_timeout;
    message = "left the gate's queue after " + std::to_string(statement_limit_.count()) +
              " ms so that writers go on";
  } else if (state == deadlock_detected ||
             (state == query_canceled && called_off_ == attempt_outcome::deadlock)) {
    how = attempt_outcome::deadlock;
    message = "the attempt was part of a deadlock and gave way";
  } else if (state == query_canceled && called_off_) {
    how = attempt_outcome::harm;
    message =
        "left the gate's queue because " + std::to_string(book_.record().pins_waiting) + " pins were waiting";
  } else if (state == query_canceled) {
    how = attempt_outcome::cancelled;
  }
  book_.end_attempt(how, result.error, now_);
  if (!message.empty()) {
    enter(transition_state::waiting_quiet, message);
    publish();
    give_up(std::move(message));
  } else if (state == query_canceled) {
    abort(abort_reason::cancelled, "an administrator cancelled the wait for the gate", result.error);
  } else {
    abort(abort_reason::step, "the gate could not be queued for", result.error);
  }
}

/// Leaves the transaction, and with it the applier lock, then backs off.
void transition_engine::give_up(std::string message) {
  book_.record().message = message;
  if (in_transaction_) {
    run(phase::giving_up, statements_.rollback(), short_text_limit);
  } else {
    back_off(std::move(message));
  }
}

void transition_engine::back_off(std::string message) {
  called_off_.reset();
  if (book_.record().state != transition_state::waiting_quiet)
    enter(transition_state::waiting_quiet, message);
  // Writers get at least about as long a time without us as we made them wait, more with every attempt.
  const auto doublings = std::min<std::size_t>(back_off_count_++, 2);
  const auto base = std::min(longest_back_off, book_.record().queue_budget * (1 << doublings));
  auto delay =
      milliseconds(static_cast<milliseconds::rep>(static_cast<double>(base.count()) * (0.5 + jitter_)));
  auto until = now_ + delay;
  if (last_look_) until = std::max(until, std::min(*last_look_ + look_interval, short_from()));
  // The last attempt must still find its time before the deadline.
  until = std::min(until, deadline_ - book_.record().queue_budget);
  until = std::max(until, now_ + shortest_back_off);
  if (until + shortest_attempt >= deadline_) {
    abort_by_deadline("the deadline passed; the last attempt: " + message);
    return;
  }
  publish();
  wait(phase::backing_off, until);
}

void transition_engine::lost_while_waiting(const server_error& error) {
  book_.end_attempt(attempt_outcome::failed, error, now_);
  if (cancel_asked_) {
    abort(abort_reason::cancelled, *cancel_asked_);
    return;
  }
  if (admitted_ && error.sqlstate == admin_shutdown) {
    abort(abort_reason::cancelled, "an administrator ended the transition's session", error);
    return;
  }
  const auto until = admitted_ ? deadline_ : admit_by_;
  if (admitted_) {
    enter(transition_state::waiting_quiet, "the control connection was lost while it waited; connects again");
    publish();
  }
  if (now_ >= until) {
    refuse_or_abort(admission::kind::unavailable, abort_reason::deadline,
                    "the control connection was lost: " + error.message, error);
    return;
  }
  out_->push_back(action::need_connection{});
  wait(phase::connecting, until);
}

} // namespace ledgergate::transition
