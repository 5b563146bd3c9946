#include <algorithm>
#include <cstring>

#include "protocol/backend_message.hpp"
#include "protocol/tags.hpp"
#include "proxy/gate/engine_core.hpp"

namespace ledgergate::gate {

namespace backend = protocol::backend;

namespace {

// as_extended: Close Close | pin: Close Parse Bind Execute Close Close | the client's Parse Bind Describe
// Execute Close Sync.
constexpr std::uint8_t as_extended_pin_first = 2;
constexpr std::uint8_t as_extended_pin_execute = 5;
constexpr std::uint8_t as_extended_client_parse = 8;
constexpr std::uint8_t as_extended_client_bind = 9;
constexpr std::uint8_t as_extended_client_describe = 10;
constexpr std::uint8_t as_extended_client_execute = 11;
constexpr std::uint8_t as_extended_client_close = 12;

/// Whether the client side is paused until this is answered.
bool waits_for(reply_purpose purpose) {
  switch (purpose) {
  case reply_purpose::hold_acquire:
  case reply_purpose::leave_failed:
  case reply_purpose::fail_again:
  case reply_purpose::run_first:
  case reply_purpose::examine_level:
  case reply_purpose::examine_read_only:
  case reply_purpose::prove_hold:
  case reply_purpose::prove_pin:
  case reply_purpose::prove_snapshot: return true;
  case reply_purpose::none:
  case reply_purpose::pin:
  case reply_purpose::hold_with_pin:
  case reply_purpose::hold_release:
  case reply_purpose::refuse:
  case reply_purpose::learn_default:
  case reply_purpose::tidy: return false;
  }
  return false;
}

/// What each step of the pin in a batch is answered with; the row of the pin comes before its
/// CommandComplete.
constexpr char pin_batch_replies[6] = {'3', '1', '2', 'C', '3', '3'};
constexpr std::uint8_t pin_batch_execute = 3;

} // namespace

// Every way an entry leaves the queue goes through here, so that the counts stay true.
void engine_core::drop_front() {
  expected_reply& entry = queue_.front();
  if (entry.may_drop_pin) {
    --droppers_in_flight_;
    state_moved_ = true;
  }
  if (entry.redefines_names) --redefiners_in_flight_;
  if (entry.drops_holds) hold_dropped();
  if (entry.kind == reply_kind::as_extended) as_extended_in_flight_ = false;
  if (entry.kind == reply_kind::query && entry.owner == reply_owner::client) --queries_in_flight_;
  queue_.pop();
  if (batch_.base_outstanding > 0) --batch_.base_outstanding;
}

engine_core::fate engine_core::mismatch() {
  // Fail closed: what cannot be paired is not passed on.
  out_->close = close_reason::server_protocol_violation;
  return fate::discard;
}

/// Removes what has no reply of its own from the front, as far as this reply shows that it is behind it.
void engine_core::settle_front(char tag) {
  while (!queue_.empty()) {
    const expected_reply& entry = queue_.front();
    const bool eaten =
        entry.maybe_eaten && (tag != backend::ready_for_query) && !leftovers_only(queue_.size());
    if (entry.kind != reply_kind::copy_end && !eaten) return;
    drop_front();
  }
}

engine_core::fate engine_core::on_notice(const frame& message) {
  settle_front(backend::notice_response);
  if (queue_.empty()) return fate::forward;
  const expected_reply& entry = queue_.front();
  if (entry.kind == reply_kind::as_extended)
    return entry.step < as_extended_client_parse ? fate::discard : fate::forward;
  if (entry.purpose == reply_purpose::run_first && message.whole) {
    // Shown only if the statement fails: else the whole text says it once more.
    envelope_.notices += message.copy();
  }
  return entry.owner == reply_owner::proxy ? fate::discard : fate::forward;
}

engine_core::fate engine_core::on_error(const frame& message) {
  const std::string_view severity = protocol::error_field(message.body, 'V');
  if (severity == "FATAL" || severity == "PANIC") return fate::forward; // the session ends with these words
  settle_front(message.tag);
  if (queue_.empty() || skipping_) return fate::forward;
  expected_reply& entry = queue_.front();
  if (entry.kind == reply_kind::sync) {
    // F23: a deferred constraint reports at Sync. The end of a COPY that failed may have been read as a Sync
    // as well.
    entry.failed = true;
    return fate::forward;
  }
  const fate decided = on_error_of(entry, message);
  // An end of the transaction that fails is an end all the same (F23), and nothing says so before
  // ReadyForQuery.
  if (entry.may_drop_pin) forget_pin();
  entry.failed = true;
  entry.copying_in = false;
  copy_in_open_ = false;
  const bool one_message = entry.kind == reply_kind::query || entry.kind == reply_kind::function_call ||
                           entry.kind == reply_kind::as_extended;
  const bool pin_failed =
      entry.kind == reply_kind::pin_batch && queue_.size() > 1 && queue_.at(1).sync_on_skip;
  if (!one_message) fail_batch(pin_failed);
  return decided;
}

/// What the error means for what was expected in its place, and whose it is.
engine_core::fate engine_core::on_error_of(expected_reply& entry, const frame& message) {
  const std::string_view sqlstate = protocol::error_field(message.body, 'C');
  fate decided = fate::forward;
  switch (entry.purpose) {
  case reply_purpose::none:
    if (pin_error_sent_ && (entry.kind == reply_kind::query || entry.kind == reply_kind::function_call)) {
      entry.drop_error = true;
      decided = fate::discard;
    }
    break;
  case reply_purpose::hold_with_pin:
    if (may_have_locked(entry.strength, sqlstate)) hold_.doubtful(entry.strength);
    [[fallthrough]];
  case reply_purpose::pin:
    if (entry.kind == reply_kind::function_call) {
      decided = pin_error_sent_ ? fate::discard : fate::forward;
      if (!pin_error_sent_) note_pin(note::kind::pin_failed, pin_shape::function_call, sqlstate);
      pin_error_sent_ = true;
    } else if (entry.kind == reply_kind::pin_batch) {
      if (entry.session_lock && may_have_locked(entry.strength, sqlstate)) hold_.doubtful(entry.strength);
      note_pin(note::kind::pin_failed, pin_shape::in_batch, sqlstate);
    } else {
      if (entry.step < as_extended_client_parse)
        note_pin(note::kind::pin_failed, pin_shape::as_extended, sqlstate);
      if (entry.step >= as_extended_client_bind && entry.step <= as_extended_client_close)
        owed_close_unnamed_ = !unnamed_closed_behind_;
    }
    break;
  case reply_purpose::learn_default:
  case reply_purpose::fail_again: decided = fate::discard; break;
  case reply_purpose::prove_hold:
    if (may_have_locked(entry.strength, sqlstate)) hold_.doubtful(entry.strength);
    [[fallthrough]];
  case reply_purpose::examine_level:
  case reply_purpose::examine_read_only:
  case reply_purpose::prove_pin:
  case reply_purpose::prove_snapshot:
  case reply_purpose::leave_failed:
  case reply_purpose::run_first:
  case reply_purpose::hold_acquire:
    if (!envelope_.failed) {
      envelope_.doubtful =
          entry.purpose == reply_purpose::hold_acquire && may_have_locked(entry.strength, sqlstate);
      envelope_.error = message.copy();
      const bool proof = entry.purpose != reply_purpose::hold_acquire;
      if (entry.purpose != reply_purpose::run_first)
        note_pin(note::kind::pin_failed, proof ? pin_shape::function_call : pin_shape::envelope, sqlstate);
    }
    envelope_.failed = true;
    decided = fate::discard;
    break;
  case reply_purpose::hold_release: decided = fate::discard; break;
  case reply_purpose::refuse:
    out_->to_client.inject(*entry.name);
    decided = fate::discard;
    break;
  case reply_purpose::tidy: break;
  }
  return decided;
}

/// Whether the Sync at the front was read as COPY data: the client sent the end of the data and further
/// messages behind it, so the server, which skips after the error of the COPY, is past it.
bool engine_core::eaten_by_copy() const {
  if (queue_.at(0).surely_eaten) return true;
  for (std::size_t i = 0; i + 1 < queue_.size() && queue_.at(i).maybe_eaten; ++i) {
    if (queue_.at(i + 1).kind != reply_kind::copy_end) continue;
    return i + 2 < queue_.size() && queue_.at(i + 2).kind != reply_kind::sync;
  }
  return false;
}

/// After an error in a batch the server skips everything up to the next Sync: those entries and what they
/// would have changed are dropped.
void engine_core::fail_batch(bool pin_failed) {
  bool owes_ready = false;
  while (!queue_.empty() && (queue_.front().kind != reply_kind::sync || eaten_by_copy())) {
    expected_reply& entry = queue_.front();
    if (entry.kind == reply_kind::parse) names_.abandoned(entry.statement);
    if (entry.kind == reply_kind::pin_batch) {
      --pins_in_flight_; // one that was skipped took nothing
    }
    if (entry.purpose == reply_purpose::hold_release) {
      --hold_.releasing;
      note_failed_release(entry, true);
    }
    owes_ready = owes_ready || (pin_failed && entry.sync_on_skip);
    const bool awaited = waits_for(entry.purpose);
    drop_front();
    if (awaited && wait_ == wait_for::envelope) {
      // The batch failed in front of what the client side waits for: its message is skipped as well.
      --pins_in_flight_;
      wait_ = wait_for::nothing;
      out_->resume_client = true;
    }
  }
  batch_.pinned = pin_strength::none;
  // What failed may be the batch in front of the open one.
  if (queue_.empty() || queue_.front().maybe_eaten) batch_.held = pin_strength::none;
  batch_goes_on_ = false;
  if (!queue_.empty()) return;
  if (owes_ready) {
    // The client sent a simple Query behind an un-Synced batch and waits for its ReadyForQuery; the server
    // skipped it because the pin in front of it failed.
    out_->to_server.inject(rules_->messages.sync);
    queue_.push(reply_kind::sync, reply_owner::client);
    batch_ = {};
    return;
  }
  skipping_ = true;
}

engine_core::fate engine_core::on_reply(const frame& message) {
  settle_front(message.tag);
  if (queue_.empty()) return mismatch();
  expected_reply& entry = queue_.front();
  switch (entry.kind) {
  case reply_kind::pin_batch: return on_pin_batch_reply(message.tag);
  case reply_kind::as_extended: return on_as_extended_reply(message);
  case reply_kind::function_call:
    if (message.tag != backend::function_call_response) return mismatch();
    return on_function_result(message.body);
  case reply_kind::query:
  case reply_kind::execute: break;
  case reply_kind::parse:
    if (message.tag != backend::parse_complete) return mismatch();
    names_.succeeded(entry.statement);
    drop_front();
    return fate::forward;
  case reply_kind::bind:
    if (message.tag != backend::bind_complete) return mismatch();
    drop_front();
    return fate::forward;
  case reply_kind::describe:
    if (message.tag == backend::parameter_description) return fate::forward;
    if (message.tag != backend::row_description && message.tag != backend::no_data) return mismatch();
    drop_front();
    return fate::forward;
  case reply_kind::close: {
    if (message.tag != backend::close_complete) return mismatch();
    const bool ours = entry.owner == reply_owner::proxy;
    if (entry.name != nullptr) names_.forget(*entry.name);
    drop_front();
    return ours ? fate::discard : fate::forward;
  }
  case reply_kind::sync:
  case reply_kind::copy_end: return mismatch();
  }

  const bool ours = entry.owner == reply_owner::proxy;
  if (message.tag == backend::copy_in_response || message.tag == backend::copy_both_response)
    on_copy_response();
  if (message.tag == backend::command_complete) {
    const bool clients_words =
        entry.purpose == reply_purpose::leave_failed || entry.purpose == reply_purpose::run_first;
    if (ours && !clients_words) return on_function_result({});
    if (const auto tag = protocol::decode_command_complete(message.body)) on_command_tag(*tag, entry);
    if (entry.copying_in) {
      // The server read up to the end of the data: every Sync in front of it was eaten.
      entry.copying_in = false;
      copy_in_open_ = false;
      while (queue_.size() > 1 && (queue_.at(1).maybe_eaten || queue_.at(1).kind == reply_kind::copy_end)) {
        const bool end = queue_.at(1).kind == reply_kind::copy_end;
        queue_.remove(1);
        if (batch_.base_outstanding > 1) --batch_.base_outstanding;
        if (end) break;
      }
    }
  }
  const bool done = message.tag == backend::command_complete ||
                    message.tag == backend::empty_query_response || message.tag == backend::portal_suspended;
  if (queue_.front().kind == reply_kind::execute && done) drop_front();
  return ours ? fate::discard : fate::forward;
}

engine_core::fate engine_core::on_function_result(std::string_view body) {
  expected_reply& entry = queue_.front();
  const bool last = entry.step == 1;
  switch (entry.purpose) {
  case reply_purpose::pin:
    if (last) pin_succeeded(entry, pin_shape::function_call);
    return fate::discard;
  case reply_purpose::hold_with_pin:
    if (last) hold_.granted(entry.strength);
    return fate::discard;
  case reply_purpose::hold_acquire:
  case reply_purpose::hold_release:
  case reply_purpose::leave_failed:
  case reply_purpose::run_first:
  case reply_purpose::fail_again: return fate::discard;
  case reply_purpose::none: return fate::forward;
  case reply_purpose::learn_default:
  case reply_purpose::examine_level:
  case reply_purpose::examine_read_only:
  case reply_purpose::prove_hold:
  case reply_purpose::prove_pin:
  case reply_purpose::prove_snapshot: on_inquiry_result(entry, body); return fate::discard;
  case reply_purpose::refuse:
  case reply_purpose::tidy: break;
  }
  return mismatch();
}

engine_core::fate engine_core::on_pin_batch_reply(char tag) {
  expected_reply& entry = queue_.front();
  if (entry.step == pin_batch_execute && tag == backend::data_row) return fate::discard;
  if (tag != pin_batch_replies[entry.step]) return mismatch();
  if (entry.step == pin_batch_execute) {
    if (entry.session_lock) hold_.granted(entry.strength);
    pin_succeeded(entry, pin_shape::in_batch);
  }
  if (++entry.step == sizeof pin_batch_replies) {
    --pins_in_flight_;
    drop_front();
  }
  return fate::discard;
}

engine_core::fate engine_core::on_as_extended_reply(const frame& message) {
  expected_reply& entry = queue_.front();
  if (entry.failed) return mismatch(); // only ReadyForQuery may follow
  const auto step_if = [&](bool right) {
    if (!right) return mismatch();
    ++entry.step;
    return fate::discard;
  };
  const char tag = message.tag;
  if (entry.step < as_extended_pin_first) return step_if(tag == backend::close_complete);
  if (entry.step < as_extended_client_parse) {
    if (entry.step == as_extended_pin_execute && tag == backend::data_row) return fate::discard;
    if (entry.step == as_extended_pin_execute && tag == backend::command_complete)
      pin_succeeded(entry, pin_shape::as_extended);
    return step_if(tag == pin_batch_replies[entry.step - as_extended_pin_first]);
  }
  switch (entry.step) {
  case as_extended_client_parse: return step_if(tag == backend::parse_complete);
  case as_extended_client_bind: return step_if(tag == backend::bind_complete);
  case as_extended_client_describe:
    if (tag != backend::row_description && tag != backend::no_data) return mismatch();
    ++entry.step;
    if (tag == backend::no_data) return fate::discard; // a simple query has none
    if (!entry.modifies || !message.whole) return fate::forward;
    // A simple query shows its rows when it has run to its end.
    held_row_description_ = message.copy();
    return fate::discard;
  case as_extended_client_execute:
    release_row_description();
    if (tag == backend::data_row) return fate::forward;
    if (tag != backend::command_complete) return mismatch();
    // F23: held until the commit is known; a deferred constraint that fails there takes its place.
    held_command_complete_ = message.copy();
    ++entry.step;
    return fate::discard;
  case as_extended_client_close: return step_if(tag == backend::close_complete);
  default: return mismatch();
  }
}

void engine_core::release_row_description() {
  if (held_row_description_.empty()) return;
  out_->to_client.inject(held_row_description_);
  held_row_description_.clear();
}

/// Parameter changes and notifications are sent when the transaction is over, right before ReadyForQuery:
/// then CommandComplete goes out in front of them, as with a simple query.
void engine_core::release_command_complete() {
  if (queue_.empty() || queue_.front().kind != reply_kind::as_extended) return;
  if (queue_.front().failed || queue_.front().step != as_extended_done) return;
  out_->to_client.inject(held_command_complete_);
  held_command_complete_.clear();
}

void engine_core::on_command_tag(std::string_view tag, expected_reply& entry) {
  if (tag.starts_with("CREATE ") || tag.starts_with("ALTER ")) {
    if (!entry.defines_a_way && tag != "CREATE TABLE" && tag != "CREATE INDEX" && tag != "CREATE SEQUENCE")
      out_->notes.emplace_back().what = note::kind::catalog_changed;
  } else if (tag == "COMMIT" || tag == "ROLLBACK" || tag == "PREPARE TRANSACTION") {
    // The tag does not say which kind of ROLLBACK it was: the pin is forgotten, an open savepoint is not.
    if (keeps(gate_rule::pin_again_behind_chain)) forget_pin();
    forget_level(false);
  } else if (tag == "CALL" || tag == "DO") {
    forget_pin(); // it may have committed inside; taking the pin again is cheap
    if (entry.sql_names != nullptr && entry.sql_names->redefines_unseen) names_.doubt_all();
  } else if (tag == "SAVEPOINT") {
    savepoint_maybe_ = true;
  } else if (tag == "DEALLOCATE ALL" || tag == "DISCARD ALL") {
    names_.forget_all();
  } else if (tag == "PREPARE" && entry.sql_names != nullptr) {
    const auto& prepares = entry.sql_names->prepares;
    if (entry.next_prepare >= prepares.size()) return;
    statement_class statement;
    statement.touch = prepares[entry.next_prepare].touch;
    statement.reason = sql::touch_reason::table;
    statement.drops_session_locks = prepares[entry.next_prepare].drops_session_locks;
    statement.isolation = entry.sql_names->isolation;
    statement.generation = rules_->generation;
    statement.source = entry.source;
    statement.prepare_index = entry.next_prepare;
    names_.define(prepares[entry.next_prepare].name, statement);
    ++entry.next_prepare;
  } else if (tag == "DEALLOCATE" && entry.sql_names != nullptr) {
    const auto& deallocates = entry.sql_names->deallocates;
    if (entry.next_deallocate >= deallocates.size()) return;
    names_.forget(deallocates[entry.next_deallocate]);
    ++entry.next_deallocate;
  }
}

} // namespace ledgergate::gate
