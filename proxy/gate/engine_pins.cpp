#include <algorithm>
#include <utility>

#include "protocol/error_response.hpp"
#include "protocol/frontend_message.hpp"
#include "protocol/wire.hpp"
#include "proxy/gate/engine_core.hpp"

namespace ledgergate::gate {

namespace {
// A release is repeated when a late cancel hit it; a session whose release never succeeds is given up, which
// frees the lock.
constexpr unsigned max_release_tries = 100;
} // namespace

pin_strength engine_core::strength_of(sql::touch_kind touch) const {
  switch (touch) {
  case sql::touch_kind::none: return pin_strength::none;
  case sql::touch_kind::touch: return pin_strength::shared;
  case sql::touch_kind::transition: break;
  }
  return keeps(gate_rule::exclusive_for_transition) ? pin_strength::exclusive : pin_strength::shared;
}

bool engine_core::hold_covers(pin_strength strength) const { return hold_.strength() >= strength; }

// Known held: its success was seen in this transaction block, and nothing sent since could have dropped it. A
// pin of an implicit transaction ends with it, at a Sync that may be on its way already: it covers its own
// batch only.
bool engine_core::pin_covers(pin_strength strength) const {
  return status_ == 'T' && pin_known_ >= strength && droppers_in_flight_ == 0 && !batch_.end &&
         survives_savepoints(strength);
}

/// F5: a pin of a subtransaction needs a hold beside it.
bool engine_core::survives_savepoints(pin_strength strength) const {
  return !savepoint_possible() || pin_at_top_ >= strength ||
         std::max(hold_.strength(), batch_.held) >= strength;
}

void engine_core::forget_pin() { pin_known_ = pin_at_top_ = pin_strength::none; }

bool engine_core::savepoint_possible() const {
  return (savepoint_maybe_ || queries_in_flight_ > 0) && keeps(gate_rule::savepoint_hold);
}

bool engine_core::denied(sql::touch_kind touch) const {
  return touch == sql::touch_kind::transition && rules_->in_band_transitions == config::in_band_policy::deny;
}

void engine_core::note_upgrade(pin_strength strength) {
  const bool shared_held = pin_known_ == pin_strength::shared || hold_.shared > 0;
  if (strength == pin_strength::exclusive && shared_held)
    out_->notes.emplace_back().what = note::kind::upgrade;
}

void engine_core::note_pin(note::kind what, pin_shape shape, std::string_view sqlstate) {
  note& seen = out_->notes.emplace_back();
  seen.what = what;
  seen.shape = shape;
  sqlstate.copy(seen.sqlstate, sizeof seen.sqlstate - 1);
}

void engine_core::inject_calls(std::string_view bytes, unsigned calls, reply_purpose purpose,
                               pin_strength strength) {
  out_->to_server.inject(bytes);
  for (unsigned i = 0; i < calls; ++i) {
    expected_reply& entry = queue_.push(reply_kind::function_call, reply_owner::proxy, purpose);
    entry.strength = strength;
    entry.at_top = !savepoint_possible();
    entry.step = i + 1 == calls ? 1 : 0; // the last call of the set completes it
  }
}

// Only where a ReadyForQuery has said 'T' and nothing is in flight: with no transaction open the lock would
// be taken and dropped again, and the statement behind it would run unpinned.
void engine_core::inject_function_call_pin(pin_strength strength) {
  const lock_messages& locks = rules_->messages.of(strength);
  if (savepoint_possible()) {
    // F5: the pin is owned by the subtransaction and dies with it, so a session-level lock is taken as well.
    inject_calls(locks.session_calls, locks.session_call_count, reply_purpose::hold_with_pin, strength);
  }
  inject_transaction_calls(strength);
}

void engine_core::inject_transaction_calls(pin_strength strength) {
  const lock_messages& locks = rules_->messages.of(strength);
  inject_calls(locks.transaction_calls, locks.transaction_call_count, reply_purpose::pin, strength);
  ++pins_in_flight_;
  note_pin(note::kind::pin_injected, pin_shape::function_call);
}

/// F12: a prepared transaction keeps transaction-level locks and refuses beside session-level ones.
void engine_core::inject_pin_for_prepare(pin_strength strength) {
  if (hold_.any()) strength = std::max(strength, hold_.taken());
  inject_transaction_calls(strength);
  if (hold_.any()) inject_release();
}

/// A lock call failed with this code: whether the lock may have been taken all the same, by a call in front
/// of the one that failed, or because a cancel or lock_timeout came just when it was granted.
bool engine_core::may_have_locked(pin_strength strength, std::string_view sqlstate) {
  return strength == pin_strength::exclusive || (sqlstate != "40P01" && sqlstate != "25P02");
}

/// Its success was seen, at transaction level.
void engine_core::pin_succeeded(const expected_reply& entry, pin_shape shape) {
  pin_known_ = std::max(pin_known_, entry.strength);
  if (entry.at_top) pin_at_top_ = std::max(pin_at_top_, entry.strength);
  if (pin_known_ >= under_hold_) forget_under_hold(); // but for what is sent behind it
  note_pin(note::kind::pin_held, shape);
}

/// A statement that drops session-level locks was answered: what the session held is in doubt. A snapshot
/// proven to be as new as the mode is so only as long as the lock was held without a gap.
void engine_core::hold_dropped() {
  --hold_.droppers_in_flight;
  if (!hold_.any()) return;
  hold_.maybe_lost = true;
  if (level_ == isolation_level::proven) level_ = isolation_level::high;
}

void engine_core::inject_batch_pin(pin_strength strength, bool session_lock) {
  const lock_messages& locks = rules_->messages.of(strength);
  out_->to_server.inject(session_lock ? locks.batch_with_session : locks.batch);
  expected_reply& entry = queue_.push(reply_kind::pin_batch, reply_owner::proxy, reply_purpose::pin);
  entry.strength = strength;
  entry.session_lock = session_lock;
  entry.at_top = !savepoint_possible();
  batch_.pinned = std::max(batch_.pinned, strength);
  if (session_lock) batch_.held = std::max(batch_.held, strength);
  batch_.bound = true;
  ++pins_in_flight_;
  note_pin(note::kind::pin_injected, pin_shape::in_batch);
}

// Parse: String statement, String query, Int16 number of types. The client's text goes as it is, NUL
// included.
void engine_core::inject_as_extended(pin_strength strength, std::string_view text, bool modifies) {
  const pin_messages& messages = rules_->messages;
  std::string parse = {'P'};
  protocol::append_int32(parse, static_cast<std::uint32_t>(4 + 1 + text.size() + 2));
  parse.push_back('\0');
  out_->to_server.inject(messages.as_extended_prefix);
  out_->to_server.inject(messages.of(strength).batch);
  out_->to_server.inject(parse);
  out_->to_server.forward(text);
  out_->to_server.inject(std::string_view("\0\0", 2));
  out_->to_server.inject(messages.as_extended_suffix);
  expected_reply& entry = queue_.push(reply_kind::as_extended, reply_owner::client, reply_purpose::pin);
  entry.strength = strength;
  entry.modifies = modifies;
  held_command_complete_.clear();
  held_row_description_.clear();
  owed_close_unnamed_ = false;
  as_extended_in_flight_ = true;
  unnamed_closed_behind_ = false;
  ++pins_in_flight_;
  note_pin(note::kind::pin_injected, pin_shape::as_extended);
}

void engine_core::inject_envelope(pin_strength strength, bool in_batch) {
  const lock_messages& locks = rules_->messages.of(strength);
  const bool by_query = kind_ == session_kind::replication;
  begin_inquiry(strength, in_batch, by_query ? 1 : locks.session_call_count);
  if (by_query) {
    out_->to_server.inject(locks.session_query);
    expected_reply& entry = queue_.push(reply_kind::query, reply_owner::proxy, reply_purpose::hold_acquire);
    entry.strength = strength;
    entry.step = 1;
  } else {
    inject_calls(locks.session_calls, locks.session_call_count, reply_purpose::hold_acquire, strength);
  }
  note_pin(note::kind::pin_injected, pin_shape::envelope);
}

// F9: SET TRANSACTION sets the transaction up, so it has to run before the pin takes a snapshot; ROLLBACK TO
// leaves a failed transaction, in which no pin can be taken (F16). It runs once more with the whole text,
// which changes nothing.
void engine_core::inject_first_statement(std::string_view text) {
  begin_inquiry(pin_strength::none, false, 1);
  std::string message;
  protocol::append_query(message, sql::leading_settings(text.substr(0, text.size() - 1)));
  out_->to_server.inject(message);
  queue_.push(reply_kind::query, reply_owner::proxy, reply_purpose::run_first);
  on_isolation_mention(sql::isolation_mention::transaction_doubt);
  first_ran_ = true;
}

// F16: no lock call runs in a failed transaction, and this text first leaves it. So it is left for it, the
// hold is taken, and the transaction is made to fail again: the text meets the state it was sent in.
void engine_core::inject_envelope_from_failed(pin_strength strength) {
  const lock_messages& locks = rules_->messages.of(strength);
  begin_inquiry(strength, false, locks.session_call_count + 2);
  out_->to_server.inject(rules_->messages.rollback_and_chain);
  queue_.push(reply_kind::query, reply_owner::proxy, reply_purpose::leave_failed);
  inject_calls(locks.session_calls, locks.session_call_count, reply_purpose::hold_acquire, strength);
  inject_calls(rules_->messages.failing_call, 1, reply_purpose::fail_again, strength);
  note_pin(note::kind::pin_injected, pin_shape::envelope);
}

void engine_core::finish_envelope() {
  --pins_in_flight_;
  wait_ = wait_for::nothing;
  out_->resume_client = true;
  if (!envelope_.failed) {
    hold_.granted(envelope_.strength);
    note_pin(note::kind::pin_held, pin_shape::envelope);
    return;
  }
  if (envelope_.doubtful) hold_.doubtful(envelope_.strength);
  answer_failed_envelope();
}

/// The client's message is answered with the error of what stood in front of it, and does not go to the
/// server.
void engine_core::answer_failed_envelope() {
  wait_ = wait_for::nothing;
  out_->resume_client = true;
  out_->to_client.inject(envelope_.notices);
  out_->to_client.inject(envelope_.error);
  if (envelope_.in_batch) {
    discard_to_sync_ = true; // the client's batch ends here; its Sync goes to the server
  } else {
    discard_front_ = true;
    if (finish_client_ready(status_) == fate::forward)
      out_->to_client.inject(protocol::make_ready_for_query(status_));
  }
}

void engine_core::inject_release() {
  const auto give_back = [this](const lock_messages& locks, unsigned times, pin_strength strength) {
    for (unsigned i = 0; i < times; ++i) {
      if (kind_ == session_kind::replication) {
        out_->to_server.inject(locks.session_release_query);
        expected_reply& entry =
            queue_.push(reply_kind::query, reply_owner::proxy, reply_purpose::hold_release);
        entry.strength = strength;
        entry.step = 1;
        ++hold_.releasing;
      } else {
        inject_calls(locks.session_release_calls, locks.session_release_call_count,
                     reply_purpose::hold_release, strength);
        hold_.releasing += locks.session_release_call_count;
      }
    }
  };
  give_back(rules_->messages.shared, hold_.shared + hold_.doubtful_shared, pin_strength::shared);
  give_back(rules_->messages.exclusive, hold_.exclusive + hold_.doubtful_exclusive, pin_strength::exclusive);
  hold_.shared = hold_.exclusive = hold_.doubtful_shared = hold_.doubtful_exclusive = 0;
  hold_.maybe_lost = false;
  ++release_tries_;
}

// A late cancel hit it, or the COMMIT in front failed, or it was skipped: what it should have given back is
// still owed. The calls of one set are counted as one.
void engine_core::note_failed_release(const expected_reply& entry, bool failed) {
  release_set_failed_ = release_set_failed_ || failed;
  if (entry.step != 1) return;
  if (release_set_failed_) hold_.doubtful(entry.strength);
  release_set_failed_ = false;
}

// Called at the ReadyForQuery of each release call; the entry is gone from the queue.
void engine_core::finish_release(const expected_reply& entry) {
  --hold_.releasing;
  note_failed_release(entry, entry.failed);
  if (hold_.releasing > 0) return;
  if (!hold_.any()) {
    release_tries_ = 0;
    out_->notes.emplace_back().what = note::kind::hold_released;
  } else if (status_ == 'I') {
    if (release_tries_ > max_release_tries) {
      out_->close = close_reason::server_protocol_violation;
      return;
    }
    if (client_rest_ == 0 && !batch_.open) {
      inject_release();
      return;
    }
  }
  if (wait_ != wait_for::catalog) release_ready();
}

void engine_core::release_ready() {
  for (; ready_held_ > 0; --ready_held_)
    out_->to_client.inject(protocol::make_ready_for_query(status_));
}

void engine_core::refuse_simple(std::string_view sqlstate, std::string_view message, std::string_view hint) {
  const pin_messages& messages = rules_->messages;
  const bool replication = kind_ == session_kind::replication;
  out_->to_server.inject(replication ? messages.failing_query : messages.failing_call);
  expected_reply& entry = queue_.push(replication ? reply_kind::query : reply_kind::function_call,
                                      reply_owner::proxy, reply_purpose::refuse);
  entry.name =
      std::make_shared<const std::string>(protocol::make_error_response("ERROR", sqlstate, message, hint));
  note_refusal(sqlstate);
  batch_ = {};
}

void engine_core::note_refusal(std::string_view sqlstate) {
  note& refused = out_->notes.emplace_back();
  refused.what = sqlstate == "42501"   ? note::kind::denied
                 : sqlstate == "40001" ? note::kind::stale
                                       : note::kind::refused;
  refused.label = "cannot_be_pinned_here";
}

void engine_core::refuse_in_batch(std::string_view sqlstate, std::string_view message,
                                  std::string_view hint) {
  out_->to_server.inject(rules_->messages.failing_bind);
  expected_reply& entry = queue_.push(reply_kind::bind, reply_owner::proxy, reply_purpose::refuse);
  entry.name =
      std::make_shared<const std::string>(protocol::make_error_response("ERROR", sqlstate, message, hint));
  batch_.bound = true;
  batch_.refused = true;
  note_refusal(sqlstate);
}

} // namespace ledgergate::gate
