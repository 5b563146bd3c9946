#include <algorithm>
#include <utility>

#include "protocol/frontend_message.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"
#include "proxy/gate/engine_core.hpp"
#include "proxy/gate/replication_command.hpp"

namespace ledgergate::gate {

namespace frontend = protocol::frontend;

namespace {

// Functions with smaller OIDs are PostgreSQL's own and lead to no table of the ledger, but for the ones
// below.
constexpr std::uint32_t first_normal_object_id = 16384;
constexpr std::uint32_t set_config = 2078;
constexpr std::size_t max_password_length = 65535 + 4;
// Enough of a statement that is too long to be read whole to see the names in front of its text.
constexpr std::size_t long_message_front_bytes = 4096;
constexpr std::size_t max_expected_replies = 65536;

/// PostgreSQL's own functions that run a query given as text: table_to_xml .. database_to_xml_and_xmlschema,
/// ts_rewrite, ts_stat.
bool runs_query_text(std::uint32_t oid) {
  return (oid >= 2923 && oid <= 2938) || oid == 3685 || oid == 3689 || oid == 3690;
}

/// pg_advisory_unlock(int8), pg_advisory_unlock_shared(int8), pg_advisory_unlock_all().
bool drops_session_locks(std::uint32_t oid) { return oid == 2884 || oid == 2885 || oid == 2892; }

/// Advisory locks of the two-key form: their namespace may be one that must come after the pin
/// (gate.pin_before_locks).
bool takes_two_key_lock(std::uint32_t oid) {
  return (oid >= 2886 && oid <= 2889) || (oid >= 3093 && oid <= 3096);
}

} // namespace

std::size_t engine_core::on_client_bytes(std::string_view bytes, actions& out) {
  out_ = &out;
  client_wanted_ = 0;
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    if (client_left_to_server_) return bytes.size();
    const std::string_view view = bytes.substr(taken);
    if (client_rest_ > 0) {
      const std::size_t size = std::min(client_rest_, view.size());
      if (client_rest_fate_ == fate::forward) out.to_server.forward(view.substr(0, size));
      client_rest_ -= size;
      taken += size;
      continue;
    }
    if (wait_ == wait_for::nothing && copy_in_open_ && !release_overdue_) {
      if (const std::size_t run = run_bytes(view, frontend::copy_data, frontend::copy_data); run > 0) {
        out.to_server.forward(view.substr(0, run));
        taken += run;
        continue;
      }
    }
    frame message;
    if (wait_ != wait_for::nothing || !read_client_frame(view, message)) break;
    const std::size_t there = std::min(message.total, view.size());
    const fate decided = on_client_frame(message);
    if (decided == fate::hold) break;
    front_seen_ = false;
    if (client_left_to_server_) return bytes.size();
    if (decided == fate::forward) out.to_server.forward(view.substr(0, there));
    client_rest_ = message.total - there;
    client_rest_fate_ = decided;
    taken += there;
  }
  return taken;
}

/// The whole messages of one of two types at the front: rows and COPY data come by the thousand and are not
/// looked at.
std::size_t engine_core::run_bytes(std::string_view view, char tag, char other_tag) {
  std::size_t at = 0;
  while (view.size() - at >= protocol::header_bytes && (view[at] == tag || view[at] == other_tag)) {
    const std::size_t length = protocol::load_int32(view.data() + at + 1);
    if (length < 4 || length > protocol::max_frontend_length(frontend::copy_data) ||
        length >= view.size() - at)
      break;
    at += length + 1;
  }
  return at;
}

bool engine_core::read_client_frame(std::string_view view, frame& out) {
  if (view.size() < protocol::header_bytes) return false;
  const std::size_t length = protocol::load_int32(view.data() + 1);
  const bool password = starting_ && view[0] == frontend::password;
  const std::size_t limit = password ? max_password_length : protocol::max_frontend_length(view[0]);
  if (length < 4 || length > limit) {
    leave_to_server(view.substr(0, protocol::header_bytes));
    return true;
  }
  out.tag = view[0];
  out.total = length + 1;
  const std::size_t needed = client_front_bytes(out.tag, out.total);
  if (view.size() < needed) {
    client_wanted_ = needed;
    return false;
  }
  out.whole = view.size() >= out.total;
  out.body = view.substr(protocol::header_bytes, std::min(out.total, view.size()) - protocol::header_bytes);
  if (out.tag == frontend::bind && !starting_ && !out.whole && !protocol::decode_bind(out.body)) {
    // The names stand in front; they are short unless the client means harm.
    client_wanted_ = std::min(out.total, view.size() * 2);
    return client_wanted_ > rules_->max_buffered_statement_bytes ? (client_wanted_ = 0, true) : false;
  }
  return true;
}

// As a real server: the bad header itself ends the session there, in the server's own words or without any.
void engine_core::leave_to_server(std::string_view header) {
  out_->to_server.forward(header);
  out_->notes.emplace_back().what = note::kind::client_violation;
  client_left_to_server_ = true;
}

std::size_t engine_core::client_front_bytes(char tag, std::size_t total) const {
  if (starting_) return protocol::header_bytes;
  switch (tag) {
  case frontend::copy_data: return protocol::header_bytes;
  case frontend::function_call: return std::min(total, protocol::header_bytes + 4);
  case frontend::bind: return std::min(total, protocol::header_bytes + 2);
  case frontend::query:
  case frontend::parse:
    return total <= rules_->max_buffered_statement_bytes ? total : std::min(total, long_message_front_bytes);
  default: return total;
  }
}

engine_core::fate engine_core::on_client_frame(const frame& message) {
  if (client_left_to_server_) return fate::discard;
  if (starting_) return on_startup_client_frame(message);
  if (discard_front_) {
    discard_front_ = false;
    return fate::discard;
  }
  if (message.tag == frontend::terminate) {
    out_->close = close_reason::client_terminated;
    return fate::forward;
  }
  if (discard_to_sync_ && message.tag != frontend::sync) return fate::discard;
  if (release_overdue_ && !may_wait_for_release(message.tag)) release_overdue_ = false;
  if (release_overdue_) {
    // A client that pipelines without end would keep its hold without end.
    wait_ = wait_for::idle;
    return fate::hold;
  }
  if (queue_.size() >= max_expected_replies) {
    wait_ = wait_for::room;
    return fate::hold;
  }
  switch (message.tag) {
  case frontend::query: return on_query(message);
  case frontend::parse: return on_parse(message);
  case frontend::bind: return on_bind(message);
  case frontend::execute: return on_execute(message);
  case frontend::describe: return on_describe(message);
  case frontend::close: return on_close(message);
  case frontend::sync: return on_sync();
  case frontend::function_call: return on_function_call(message);
  case frontend::copy_done:
  case frontend::copy_fail: return on_copy_end();
  default: return fate::forward; // CopyData and Flush
  }
}

// Waiting ends by itself only when everything sent will be answered without more from the client.
bool engine_core::may_wait_for_release(char tag) const {
  const bool copy_data =
      tag == frontend::copy_data || tag == frontend::copy_done || tag == frontend::copy_fail;
  return !copy_data && !copy_in_open_ && !batch_.open && !skipping_ && !idle() && hold_.any();
}

engine_core::fate engine_core::on_startup_client_frame(const frame& message) {
  if (message.tag == frontend::password) {
    authentication_asks_ = false;
    return fate::forward;
  }
  if (message.tag == frontend::terminate) {
    out_->close = close_reason::client_terminated;
    return fate::forward;
  }
  if (authentication_asks_) {
    // Not an answer to what the server asked: it refuses the client in its own words.
    return fate::forward;
  }
  wait_ = wait_for::startup; // sent ahead of the end of start-up
  return fate::hold;
}

sql::text_verdict engine_core::classify_query(const frame& message) {
  if (!message.whole) {
    sql::text_verdict verdict;
    verdict.touch = sql::touch_kind::touch;
    verdict.reason = sql::touch_reason::unparsed;
    verdict.parse_error = "too_long";
    verdict.has_transaction_control = true;
    verdict.may_commit_inside = true;
    verdict.isolation = sql::isolation_mention::doubt;
    return verdict;
  }
  const auto text = protocol::decode_query(message.body);
  if (!text) return {}; // not well formed: the server refuses it
  if (kind_ == session_kind::replication && is_replication_command(*text)) return {};
  sql::text_verdict verdict = rules_->classifier->classify(*text, reading_);
  // A name that the text itself redefines means something else behind that.
  const bool redefines =
      !verdict.prepares.empty() || !verdict.deallocates.empty() || verdict.forgets_statements;
  for (const std::string& name : verdict.executes) {
    const statement_class statement = redefines ? unknown_statement() : class_of_statement(name);
    if (statement.touch > verdict.touch) {
      verdict.touch = statement.touch;
      verdict.reason = statement.reason;
    }
    if (statement.isolation != sql::isolation_mention::none)
      verdict.isolation = sql::isolation_mention::doubt;
    verdict.drops_session_locks = verdict.drops_session_locks || statement.drops_session_locks;
  }
  return verdict;
}

engine_core::fate engine_core::on_query(const frame& message) {
  if (skipping_) return fate::forward; // the server throws it away
  learn_default_level();
  const sql::text_verdict verdict = classify_query(message);
  if (!front_seen_) {
    front_seen_ = true;
    count(verdict.touch);
    note_touch(verdict);
  }
  const std::string_view text = message.whole && !message.body.empty() ? message.body : std::string_view{};
  if (verdict.touch != sql::touch_kind::none && rules_->mode == config::gate_mode::enforce) {
    const fate decided = pin_simple(verdict, false, text);
    if (decided != fate::forward) return decided;
  }
  const sql::control_kind control = hold_.any() && !text.empty()
                                        ? sql::single_control_statement(text.substr(0, text.size() - 1))
                                        : sql::control_kind::none;
  if (verdict.touch == sql::touch_kind::none && !pin_what_the_hold_covers(verdict, control)) {
    wait_ = wait_for::idle;
    return fate::hold;
  }
  if (control == sql::control_kind::prepare_transaction) {
    if (!idle()) {
      wait_ = wait_for::idle;
      return fate::hold;
    }
    // F12: a prepared transaction keeps transaction-level locks and refuses beside session-level ones.
    if (status_ == 'T') {
      const lock_messages& locks =
          rules_->messages.of(hold_.exclusive > 0 ? pin_strength::exclusive : pin_strength::shared);
      inject_calls(locks.transaction_calls, locks.transaction_call_count, reply_purpose::pin,
                   hold_.exclusive > 0 ? pin_strength::exclusive : pin_strength::shared);
      ++pins_in_flight_;
      inject_release();
    }
  }
  const bool certain = idle() && !batch_.open;
  push_query(verdict);
  const bool ends = control == sql::control_kind::commit || control == sql::control_kind::rollback;
  if (certain && ends && (status_ == 'T' || status_ == 'E')) {
    // In the same write, right behind the client's own COMMIT: giving the hold back costs no round trip.
    out_->to_server.forward({message.body.data() - protocol::header_bytes, message.total});
    inject_release();
    return fate::discard;
  }
  return fate::forward;
}

void engine_core::push_query(const sql::text_verdict& verdict) {
  on_isolation_mention(verdict.isolation);
  expected_reply& entry = queue_.push(reply_kind::query, reply_owner::client);
  const bool read = verdict.shape != sql::text_shape::unknown;
  entry.may_drop_pin = !read || verdict.has_transaction_control;
  if (entry.may_drop_pin) ++droppers_in_flight_;
  ++queries_in_flight_;
  entry.sync_on_skip = batch_.open && verdict.touch != sql::touch_kind::none;
  if (!verdict.prepares.empty() || !verdict.deallocates.empty())
    entry.sql_names = std::make_shared<const sql::text_verdict>(verdict);
  mark_redefiner(entry, &verdict);
  mark_hold_dropper(entry, verdict.drops_session_locks);
  batch_ = {};
  unnamed_closed_behind_ = true;
  owed_close_unnamed_ = false; // a simple query drops the unnamed statement by itself
}

void engine_core::mark_redefiner(expected_reply& entry, const sql::text_verdict* names) {
  if (names == nullptr) return;
  entry.redefines_names =
      !names->prepares.empty() || !names->deallocates.empty() || names->forgets_statements;
  if (entry.redefines_names) ++redefiners_in_flight_;
}

// It drops them when the server runs it, which may be behind a lock call still in flight; an error does not
// give them back.
void engine_core::mark_hold_dropper(expected_reply& entry, bool drops) {
  entry.drops_holds = drops && kind_ != session_kind::ungated;
  if (entry.drops_holds) ++hold_.droppers_in_flight;
}

/// A touch that a session-level hold covers. The client may drop session-level locks at any time, so the
/// transaction takes the lock as well, at once where that is possible in the same write.
engine_core::fate engine_core::back_hold_with_pin(pin_strength strength, bool control_inside) {
  const bool certain = status_ == 'T' && idle() && !batch_.open && kind_ == session_kind::gated;
  if (!certain || control_inside || level_ == isolation_level::exempt) {
    under_hold_ = std::max(under_hold_, strength);
    return fate::forward;
  }
  inject_transaction_calls(strength);
  return fate::forward;
}

/// A text that touches nothing, behind touches that only a hold covers: the transaction takes its own lock
/// before the text can drop the hold or open a savepoint in which that lock would die. Not in front of
/// anything else: a chained transaction may still have to SET TRANSACTION (F9). False: the text has to wait.
bool engine_core::pin_what_the_hold_covers(const sql::text_verdict& verdict, sql::control_kind control) {
  if (under_hold_ == pin_strength::none || kind_ != session_kind::gated) return true;
  if (!verdict.drops_session_locks && control != sql::control_kind::savepoint) return true;
  if (batch_.open) {
    inject_batch_pin(under_hold_, false);
    return true;
  }
  if (!idle()) return copy_in_open_;
  if (status_ == 'T') inject_transaction_calls(under_hold_);
  return true;
}

engine_core::fate engine_core::on_function_call(const frame& message) {
  if (skipping_) return fate::forward;
  learn_default_level();
  sql::text_verdict verdict;
  const std::uint32_t oid = message.body.size() >= 4 ? protocol::load_int32(message.body.data()) : 0;
  if (oid == set_config) on_isolation_mention(sql::isolation_mention::doubt);
  if (oid >= first_normal_object_id || runs_query_text(oid) || takes_two_key_lock(oid)) {
    verdict.touch = sql::touch_kind::touch;
    verdict.reason = sql::touch_reason::function;
  }
  if (!front_seen_) {
    front_seen_ = true;
    count(verdict.touch);
    note_touch(verdict);
  }
  verdict.drops_session_locks = drops_session_locks(oid);
  if (verdict.touch != sql::touch_kind::none && rules_->mode == config::gate_mode::enforce) {
    const fate decided = pin_simple(verdict, true, {});
    if (decided != fate::forward) return decided;
  } else if (!pin_what_the_hold_covers(verdict, sql::control_kind::none)) {
    wait_ = wait_for::idle;
    return fate::hold;
  }
  expected_reply& entry = queue_.push(reply_kind::function_call, reply_owner::client);
  entry.sync_on_skip = batch_.open && verdict.touch != sql::touch_kind::none;
  mark_hold_dropper(entry, drops_session_locks(oid));
  batch_ = {};
  return fate::forward;
}

engine_core::fate engine_core::on_copy_end() {
  copy_in_open_ = false;
  if (!queue_.empty() && !skipping_) queue_.push(reply_kind::copy_end, reply_owner::client);
  return fate::forward;
}

engine_core::fate engine_core::pin_simple(const sql::text_verdict& verdict, bool function_call,
                                          std::string_view text) {
  const pin_strength strength = strength_of(verdict.touch);
  if (take_stale()) {
    refuse_stale(false);
    return fate::discard;
  }
  // A hold survives whatever the text does, unless the text itself drops session-level locks.
  if (pin_covers(strength) && !verdict.has_transaction_control) return fate::forward;
  if (hold_covers(strength) && !verdict.drops_session_locks)
    return back_hold_with_pin(strength, verdict.has_transaction_control);

  const simple_situation now{.replies_outstanding = !idle(),
                             .batch_open = batch_.open,
                             .function_call = function_call,
                             .replication = kind_ == session_kind::replication,
                             .status = status_,
                             .shape = verdict.shape,
                             .has_transaction_control = verdict.has_transaction_control,
                             .first = verdict.first,
                             .may_wait = !copy_in_open_};
  pin_plan plan = plan_simple(now);
  const bool waits = plan == pin_plan::wait_idle || plan == pin_plan::forward;
  if (!waits && denied(verdict.touch)) {
    refuse_simple("42501", "this session may not change the mode of the ledger", rules_->admin_hint);
    return fate::discard;
  }
  if (plan == pin_plan::envelope && verdict.drops_session_locks) plan = pin_plan::refuse;
  if (status_ == 'T' && (plan == pin_plan::function_call || plan == pin_plan::envelope) &&
      kind_ == session_kind::gated && transaction_level() != isolation_level::low) {
    if (level_ == isolation_level::exempt && !verdict.has_transaction_control) return fate::forward;
    if (mind_level(strength, false) == fate::hold) return fate::hold;
    if (plan == pin_plan::envelope) plan = pin_plan::refuse;
  }
  // At a higher level by default the lock must be granted before the snapshot exists.
  if (plan == pin_plan::as_extended && default_level_ != isolation_level::low) plan = pin_plan::envelope;
  if (plan == pin_plan::in_batch_with_session && !base_known()) {
    wait_ = wait_for::base;
    return fate::hold;
  }
  if (!waits) note_upgrade(strength);
  switch (plan) {
  case pin_plan::forward: return fate::forward;
  case pin_plan::wait_idle:
  case pin_plan::wait_base: wait_ = wait_for::idle; return fate::hold;
  case pin_plan::function_call: inject_function_call_pin(strength); return fate::forward;
  case pin_plan::in_batch:
  case pin_plan::in_batch_with_session: inject_batch_pin(strength, true); return fate::forward;
  case pin_plan::as_extended: inject_as_extended(strength, text); return fate::discard;
  case pin_plan::envelope: inject_envelope(strength, false); return fate::hold;
  case pin_plan::envelope_from_failed: inject_envelope_from_failed(strength); return fate::hold;
  case pin_plan::refuse: break;
  }
  refuse_simple("0A000", "ledgergate cannot pin this text in the transaction state it is sent in",
                "Send the transaction control statement in it as a message of its own.");
  return fate::discard;
}

void engine_core::count(sql::touch_kind touch) {
  switch (touch) {
  case sql::touch_kind::none: counters_.none.add(); return;
  case sql::touch_kind::touch: counters_.touch.add(); return;
  case sql::touch_kind::transition: counters_.transition.add(); return;
  }
}

void engine_core::note_touch(const sql::text_verdict& verdict) {
  if (verdict.touch == sql::touch_kind::none) return;
  note& seen = out_->notes.emplace_back();
  seen.what = verdict.reason == sql::touch_reason::unparsed ? note::kind::unparsed : note::kind::touched;
  seen.touch = verdict.touch;
  seen.reason = verdict.reason;
  seen.label = verdict.parse_error != nullptr ? verdict.parse_error : "unknown_name";
  seen.name = verdict.name;
}

} // namespace ledgergate::gate
