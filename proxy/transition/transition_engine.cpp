// Dispatch, cancelling and ending. The way to the gate stands in transition_waiting.cpp, the rest in
// transition_holding.cpp.
#include "proxy/transition/transition_engine.hpp"

#include <algorithm>
#include <utility>

#include "proxy/transition/engine_limits.hpp"

namespace ledgergate::transition {

const result_set* set_with_columns(const sql_result& result, std::size_t index) {
  for (const auto& set : result.sets) {
    if (set.column_count == 0) continue;
    if (index == 0) return &set;
    --index;
  }
  return nullptr;
}

bool took_slot(const sql_result& result) {
  const auto* set = set_with_columns(result, 0);
  return !result.error && set != nullptr && single_value(*set) == "t";
}

transition_engine::transition_engine(std::shared_ptr<const config::settings> settings, std::string id,
                                     transition_request request, moment start, wall_time started_at)
    : settings_(std::move(settings)), statements_(settings_, id),
      book_(settings_->transitions, std::move(id), std::move(request), start.now, started_at),
      now_(start.now), jitter_(start.jitter) {
  deadline_ = now_ + book_.record().request.deadline.value_or(settings_->transitions.deadline);
  admit_by_ = std::min(deadline_, now_ + admission_limit);
  last_connection_error_ = {"08006", "the control connection is not up", {}, {}};
}

void transition_engine::start(moment at, actions& out) {
  now_ = at.now;
  jitter_ = at.jitter;
  out_ = &out;
  out_->push_back(action::need_connection{});
  wait(phase::connecting, admit_by_);
  out_ = nullptr;
}

void transition_engine::handle(const transition_event& what, moment at, actions& out) {
  if (phase_ == phase::done) return;
  now_ = at.now;
  jitter_ = at.jitter;
  out_ = &out;
  std::visit([this](const auto& event) { on(event); }, what);
  out_ = nullptr;
}

bool transition_engine::cancellable() const { return phase_ <= phase::backing_off && !cancel_asked_; }

void transition_engine::on(const event::connected& what) {
  backend_pid_ = what.backend_pid;
  deadlock_timeout_ = what.deadlock_timeout;
  if (phase_ == phase::connecting) take_slot();
  if (phase_ == phase::reconnecting) ask_outcome();
}

void transition_engine::on(const event::connection_lost& what) {
  last_connection_error_ = what.error;
  running_ = cancel_pending_ = slot_held_ = in_transaction_ = false;
  called_off_.reset();
  held_back_.reset();
  switch (phase_) {
  case phase::connecting:
  case phase::taking_slot:
  case phase::naming_rival:
  case phase::beginning:
  case phase::taking_applier:
  case phase::looking:
  case phase::quiet:
  case phase::queueing:
  case phase::giving_up:
  case phase::backing_off: lost_while_waiting(what.error); break;
  case phase::checking:
  case phase::guarding:
  case phase::stepping:
  case phase::changing:
  case phase::sealing:
    // Not tried again: what ran may be what ended the connection.
    if (what.error.sqlstate == admin_shutdown) {
      abort(abort_reason::cancelled, "an administrator ended the session while it held the gate", what.error);
    } else {
      abort(blame(), "the connection was lost while it held the gate; the server rolled everything back",
            what.error);
    }
    break;
  case phase::committing:
    enter(transition_state::unknown,
          "the connection was lost during the commit; its outcome is being asked for");
    book_.record().error = what.error;
    publish();
    [[fallthrough]];
  case phase::reconnecting:
  case phase::asking:
  case phase::asking_again_later:
    phase_ = phase::reconnecting;
    out_->push_back(action::need_connection{});
    break;
  case phase::ending: conclude(); break;
  case phase::done: break;
  }
}

void transition_engine::on(const event::sql_done& what) {
  if (!running_) return;
  // A cancel that is still on its way must not hit the next text.
  if (cancel_pending_) {
    held_back_ = what.result;
    return;
  }
  process(what.result);
}

void transition_engine::on(const event::cancel_done&) {
  if (!cancel_pending_) return;
  cancel_pending_ = false;
  if (held_back_) {
    const sql_result result = std::move(*held_back_);
    held_back_.reset();
    process(result);
  } else if (running_) {
    out_->push_back(action::arm_timer{now_ + cancel_again_after});
  }
}

void transition_engine::on(const event::timer_fired&) {
  if (running_ && phase_ == phase::committing) {
    enter(transition_state::holding,
          "the commit is waiting, most likely for a synchronous standby to confirm it");
    publish();
    return;
  }
  if (running_) {
    // Only two things are timed while a text runs: a cancel that must have an effect, and the watchdog.
    if (cancel_pending_ || now_ >= watchdog_) {
      out_->push_back(action::drop_connection{"the server did not answer in time"});
    } else if (cancel_asked_ || called_off_) {
      ask_cancel();
    }
    return;
  }
  if (phase_ == phase::connecting && admitted_) {
    abort_by_deadline("the deadline passed before the control connection was back: " +
                      last_connection_error_.message);
  } else if (phase_ == phase::connecting) {
    refuse({admission::kind::unavailable,
            {},
            "the database cannot be asked: " + last_connection_error_.message,
            last_connection_error_});
  } else if (phase_ == phase::quiet) {
    look_or_queue();
  } else if (phase_ == phase::backing_off) {
    slot_held_ ? begin() : take_slot();
  } else if (phase_ == phase::asking_again_later) {
    ask_outcome();
  }
}

void transition_engine::on(const event::pins_observed& what) {
  if (!admitted_ || book_.record().is_final()) return;
  book_.observe(what.pins, backend_pid_);
  if (phase_ == phase::committing) notice_hanging_commit(what.pins);
  publish();
  if (phase_ == phase::queueing && running_ && !cancel_pending_ && !called_off_) call_off_if_needed();
  if (phase_ >= phase::looking && phase_ <= phase::backing_off) evict_idle();
}

void transition_engine::on(const event::evicted& what) {
  book_.record().evictions.push_back({what.holder, book_.wall(now_), what.outcome});
  publish();
}

void transition_engine::on(const event::cancel_asked& what) {
  if (!cancellable()) return;
  cancel_asked_ = what.why;
  if (running_) {
    // A ROLLBACK needs no cancel, it ends by itself.
    if (phase_ != phase::giving_up && !cancel_pending_) ask_cancel();
    return;
  }
  abort(abort_reason::cancelled, what.why);
}

void transition_engine::process(const sql_result& result) {
  running_ = false;
  in_transaction_ = result.status != transaction_status::idle;
  if (cancel_asked_ && phase_ < phase::backing_off) {
    // A granted lock counts no more: nothing was looked at under it.
    book_.end_attempt(attempt_outcome::cancelled, result.error, now_);
    if (phase_ == phase::taking_slot) slot_held_ = took_slot(result);
    abort(abort_reason::cancelled, *cancel_asked_);
    return;
  }
  switch (phase_) {
  case phase::taking_slot: slot_answered(result); break;
  case phase::naming_rival: rival_named(result); break;
  case phase::beginning: began(result); break;
  case phase::taking_applier: applier_answered(result); break;
  case phase::looking: looked(result); break;
  case phase::queueing: queue_answered(result); break;
  case phase::giving_up: back_off(book_.record().message); break;
  case phase::checking: checked(result); break;
  case phase::guarding: guard_answered(result); break;
  case phase::stepping: step_answered(result); break;
  case phase::changing: changed(result); break;
  case phase::sealing: sealed(result); break;
  case phase::committing: commit_answered(result); break;
  case phase::asking: outcome_answered(result); break;
  case phase::ending: end_answered(result); break;
  case phase::connecting:
  case phase::quiet:
  case phase::backing_off:
  case phase::reconnecting:
  case phase::asking_again_later:
  case phase::done: break; // no text runs in these
  }
}

void transition_engine::refuse(admission answer) {
  refusal_ = std::move(answer);
  stop_with({transition_state::aborted, std::nullopt, refusal_->message, refusal_->error});
}

void transition_engine::refuse_or_abort(enum admission::kind kind, abort_reason reason, std::string message,
                                        std::optional<server_error> error) {
  if (admitted_) {
    abort(reason, std::move(message), std::move(error));
  } else {
    refuse({kind, {}, std::move(message), std::move(error)});
  }
}

void transition_engine::abort(abort_reason reason, std::string message, std::optional<server_error> error) {
  if (!admitted_ && !refusal_) {
    refuse({admission::kind::unavailable, {}, std::move(message), std::move(error)});
    return;
  }
  stop_with({transition_state::aborted, reason, std::move(message), std::move(error)});
}

void transition_engine::abort_by_deadline(std::string message) {
  const auto blockers = describe_blockers(book_.record());
  if (!blockers.empty()) message += "; the gate was held by " + blockers;
  // Attempts that had to be called off are the reason, not the clock.
  const bool harmed = book_.last_attempt_was(attempt_outcome::harm);
  abort(harmed ? abort_reason::harm : abort_reason::deadline, std::move(message));
}

void transition_engine::stop_with(outcome how) {
  outcome_ = std::move(how);
  if (in_transaction_) {
    run(phase::ending, slot_held_ ? statements_.rollback_and_release() : statements_.rollback(),
        short_text_limit);
  } else if (slot_held_) {
    const auto& record = book_.record();
    const bool complete = record.recorded && record.changed;
    run(phase::ending, complete ? statements_.release_slot_and_complete(record) : statements_.release_slot(),
        short_text_limit);
  } else {
    conclude();
  }
}

// A session that did not let go of everything would keep the slot, and with it every other transition, out.
void transition_engine::end_answered(const sql_result& result) {
  if (result.error || result.status != transaction_status::idle)
    out_->push_back(action::drop_connection{"the end of the transition was not carried out"});
  conclude();
}

void transition_engine::conclude() {
  auto& record = book_.record();
  if (outcome_ && !record.is_final()) {
    if (record.state == transition_state::holding) book_waiters_of_the_grant();
    book_.end_attempt(attempt_outcome::failed, outcome_->error, now_);
    record.reason = outcome_->reason;
    record.error = outcome_->error;
    enter(outcome_->state, outcome_->message);
  }
  record.recorded = record.recorded && record.changed;
  phase_ = phase::done;
  if (refusal_) {
    out_->push_back(action::admit{*refusal_});
  } else {
    publish();
  }
  out_->push_back(action::finish{});
}

void transition_engine::run(phase next, std::string text, milliseconds limit) {
  phase_ = next;
  running_ = true;
  statement_started_ = now_;
  statement_limit_ = limit;
  watchdog_ = now_ + limit + watchdog_grace;
  out_->push_back(action::run_sql{std::move(text)});
  out_->push_back(action::arm_timer{watchdog_});
}

void transition_engine::ask_cancel() {
  cancel_pending_ = true;
  out_->push_back(action::cancel_statement{});
  out_->push_back(action::arm_timer{now_ + cancel_limit});
}

void transition_engine::wait(phase next, time_point until) {
  phase_ = next;
  out_->push_back(action::arm_timer{until});
}

void transition_engine::enter(transition_state state, std::string message) {
  book_.enter(state, std::move(message), now_);
}

void transition_engine::publish() { out_->push_back(action::publish{}); }

milliseconds transition_engine::remaining() const {
  return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(deadline_ - now_));
}

} // namespace ledgergate::transition
