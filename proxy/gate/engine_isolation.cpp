#include <algorithm>
#include <utility>

#include "protocol/wire.hpp"
#include "proxy/gate/engine_core.hpp"

namespace ledgergate::gate {

namespace {

/// The value in a FunctionCallResponse: Int32 length (-1 for NULL), bytes.
std::string_view result_value(std::string_view body) {
  if (body.size() < 4) return {};
  const std::uint32_t length = protocol::load_int32(body.data());
  return length == body.size() - 4 ? body.substr(4) : std::string_view{};
}

} // namespace

// The session's default is asked once, in the same write as the client's first message; again after anything
// that may have changed it.
void engine_core::learn_default_level() {
  if (default_level_ != isolation_level::unknown || default_asked_ || kind_ != session_kind::gated) return;
  if (rules_->mode != config::gate_mode::enforce || status_ != 'I' || !idle() || batch_.open) return;
  default_asked_ = true;
  default_doubted_ = false;
  inject_calls(rules_->messages.ask_default_isolation, 1, reply_purpose::learn_default, pin_strength::none);
}

void engine_core::on_isolation_mention(sql::isolation_mention mention) {
  switch (mention) {
  case sql::isolation_mention::none: return;
  case sql::isolation_mention::begins_low:
    // Only a BEGIN that certainly begins: inside a transaction it may fail and change nothing.
    level_doubted_ = level_doubted_ || status_ != 'I' || !idle();
    level_low_ = !level_doubted_;
    return;
  case sql::isolation_mention::transaction_doubt: level_doubted_ = true; return;
  case sql::isolation_mention::doubt:
    level_doubted_ = true;
    // The answer to a question already asked may be from before this text.
    default_level_ = isolation_level::unknown;
    default_doubted_ = true;
    return;
  }
}

isolation_level engine_core::default_level() const {
  return keeps(gate_rule::snapshot_proof) ? default_level_ : isolation_level::low;
}

isolation_level engine_core::transaction_level() const {
  if (!keeps(gate_rule::snapshot_proof)) return isolation_level::low;
  if (level_ != isolation_level::unknown) return level_;
  if (level_doubted_) return isolation_level::unknown;
  if (level_low_) return isolation_level::low;
  return default_level_ == isolation_level::low ? isolation_level::low : isolation_level::unknown;
}

void engine_core::forget_level(bool session_idle) {
  level_ = isolation_level::unknown;
  if (!session_idle) return;
  level_doubted_ = false;
  level_low_ = false;
}

/// Asks the server for the level of the open transaction. The client side waits.
void engine_core::examine_level(pin_strength strength, bool in_batch) {
  begin_inquiry(strength, in_batch, 2);
  inject_calls(rules_->messages.ask_isolation, 1, reply_purpose::examine_level, strength);
  inject_calls(rules_->messages.ask_read_only, 1, reply_purpose::examine_read_only, strength);
}

/// The pin, and the snapshot that it may have waited behind. The client side waits.
void engine_core::pin_and_prove(pin_strength strength, bool in_batch, bool with_session) {
  const lock_messages& locks = rules_->messages.of(strength);
  const bool session = with_session || savepoint_possible();
  begin_inquiry(strength, in_batch,
                (session ? locks.session_call_count : 0) + locks.transaction_call_count + 1);
  if (session)
    inject_calls(locks.session_calls, locks.session_call_count, reply_purpose::prove_hold, strength);
  inject_calls(locks.transaction_calls, locks.transaction_call_count, reply_purpose::prove_pin, strength);
  inject_calls(rules_->messages.ask_snapshot, 1, reply_purpose::prove_snapshot, strength);
  note_pin(note::kind::pin_injected, pin_shape::function_call);
}

void engine_core::begin_inquiry(pin_strength strength, bool in_batch, unsigned calls) {
  envelope_ = {};
  envelope_.strength = strength;
  envelope_.in_batch = in_batch;
  envelope_.was_failed = status_ == 'E';
  envelope_.remaining = calls;
  wait_ = wait_for::envelope;
  ++pins_in_flight_;
}

void engine_core::on_inquiry_result(const expected_reply& entry, std::string_view body) {
  const std::string_view value = result_value(body);
  switch (entry.purpose) {
  case reply_purpose::learn_default:
    if (!default_doubted_) default_level_ = level_of_setting(value);
    return;
  case reply_purpose::examine_level:
    level_ = level_of_setting(value);
    batch_.left_block = false; // the answer is of the block that is open now
    return;
  case reply_purpose::examine_read_only:
    // A transaction that was READ ONLY from its start has touched nothing yet.
    if (level_ == isolation_level::high && value == "on" && under_hold_ == pin_strength::none &&
        pin_known_ == pin_strength::none)
      level_ = isolation_level::exempt;
    return;
  case reply_purpose::prove_hold:
    if (entry.step == 1) hold_.granted(entry.strength);
    return;
  case reply_purpose::prove_pin:
    if (entry.step == 1) pin_succeeded(entry, pin_shape::function_call);
    return;
  case reply_purpose::prove_snapshot: snapshot_ = decode_snapshot(value); return;
  case reply_purpose::none:
  case reply_purpose::pin:
  case reply_purpose::hold_with_pin:
  case reply_purpose::hold_acquire:
  case reply_purpose::leave_failed:
  case reply_purpose::run_first:
  case reply_purpose::fail_again:
  case reply_purpose::hold_release:
  case reply_purpose::refuse:
  case reply_purpose::tidy: return;
  }
}

/// The last reply of an inquiry is in. `proving`: the control row's writer is needed next.
void engine_core::finish_inquiry(bool proving) {
  --pins_in_flight_;
  if (envelope_.failed && first_ran_ && envelope_.strength == pin_strength::none && envelope_.was_failed) {
    // It failed where the whole text fails as well, and in its own words.
    wait_ = wait_for::nothing;
    out_->resume_client = true;
    return;
  }
  if (envelope_.failed) {
    level_ = isolation_level::unknown;
    answer_failed_envelope();
    return;
  }
  if (proving) {
    wait_ = wait_for::control_row;
    out_->ask_control_row = true;
    return;
  }
  wait_ = wait_for::nothing;
  out_->resume_client = true;
}

void engine_core::on_control_row(std::optional<std::uint64_t> writer, actions& out) {
  out_ = &out;
  if (wait_ != wait_for::control_row) return; // the session has moved on: the server ended it
  wait_ = wait_for::nothing;
  out.resume_client = true;
  if (writer && snapshot_ && snapshot_->sees(*writer)) {
    level_ = isolation_level::proven;
  } else {
    stale_ = true;
  }
  snapshot_.reset();
}

void engine_core::refuse_stale(bool in_batch) {
  static constexpr std::string_view message =
      "could not serialize access due to a change of the ledger's mode";
  static constexpr std::string_view hint = "The transaction's snapshot is from before the change. Try again.";
  in_batch ? refuse_in_batch("40001", message, hint) : refuse_simple("40001", message, hint);
}

bool engine_core::take_stale() { return std::exchange(stale_, false); }

} // namespace ledgergate::gate
