#include <algorithm>
#include <utility>

#include "protocol/frontend_message.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"
#include "proxy/gate/engine_core.hpp"
#include "proxy/gate/replication_command.hpp"

namespace ledgergate::gate {

namespace {

constexpr std::uint32_t set_config = 2078;

/// Those of PostgreSQL's own functions that run a query given as text: table_to_xml ..
/// database_to_xml_and_xmlschema, ts_rewrite, ts_stat.
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

sql::text_verdict engine_core::classify_query(const frame& message) {
  if (!message.whole) {
    sql::text_verdict verdict;
    verdict.touch = sql::touch_kind::touch;
    verdict.reason = sql::touch_reason::unparsed;
    verdict.parse_error = "too_long";
    verdict.first = sql::leading_control_statement(message.body);
    verdict.has_transaction_control = true;
    verdict.may_commit_inside = true;
    verdict.isolation = sql::isolation_mention::doubt;
    return verdict;
  }
  const auto text = protocol::decode_query(message.body);
  if (!text) return {}; // not well formed: the server refuses it
  if (kind_ == session_kind::replication && is_replication_command(*text)) return {};
  sql::text_verdict verdict = rules_->classifier->classify(*text, reading_);
  if (verdict.reason == sql::touch_reason::do_block && !keeps(gate_rule::touch_in_do))
    verdict.touch = sql::touch_kind::none;
  doubt(verdict, *text);
  // A name that the text itself redefines means something else behind that.
  const bool redefines =
      (!verdict.prepares.empty() || !verdict.deallocates.empty() || verdict.forgets_statements) &&
      keeps(gate_rule::doubt_redefined_names);
  for (const std::string& name : verdict.executes) {
    if (!keeps(gate_rule::touch_by_statement_name)) break;
    const statement_class statement = redefines ? unknown_statement() : class_of_statement(name);
    add_executed(verdict, statement);
  }
  return verdict;
}

engine_core::fate engine_core::on_query(const frame& message) {
  if (skipping_) return fate::forward; // the server throws it away
  learn_default_level();
  const sql::text_verdict verdict = classify_query(message);
  see_front(verdict, message.body);
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
  if (verdict.touch == sql::touch_kind::none && verdict.prepares_transaction) {
    const fate decided = ready_for_prepare(verdict.shape);
    if (decided != fate::forward) return decided;
  }
  const bool certain = idle() && !batch_.open;
  push_query(verdict, text);
  const bool ends = control == sql::control_kind::commit || control == sql::control_kind::rollback;
  if (certain && ends && (status_ == 'T' || status_ == 'E')) {
    // In the same write, right behind the client's own COMMIT: giving the hold back costs no round trip.
    out_->to_server.forward({message.body.data() - protocol::header_bytes, message.total});
    inject_release();
    return fate::discard;
  }
  return fate::forward;
}

// F12, of a text that touches nothing. The replies of an open batch may never come, so only what was sent
// before it is waited for.
engine_core::fate engine_core::ready_for_prepare(sql::text_shape shape) {
  if (!hold_.any() && pins_in_flight_ == 0) return fate::forward;
  if (batch_.open ? !base_known() : !idle()) {
    wait_ = batch_.open ? wait_for::base : wait_for::idle;
    return fate::hold;
  }
  const bool left_behind = shape == sql::text_shape::several && savepoint_possible() && status_ == 'T';
  if (batch_.open ? batch_.held != pin_strength::none || hold_.any() : hold_.any() && left_behind) {
    refuse_unpinnable();
    return fate::discard;
  }
  if (!batch_.open && status_ == 'T' && hold_.any()) inject_pin_for_prepare(pin_strength::none);
  return fate::forward;
}

void engine_core::push_query(const sql::text_verdict& verdict, std::string_view text) {
  on_isolation_mention(verdict.isolation);
  expected_reply& entry = queue_.push(reply_kind::query, reply_owner::client);
  const bool read = verdict.shape != sql::text_shape::unknown;
  entry.may_drop_pin = !read || verdict.has_transaction_control;
  if (entry.may_drop_pin) ++droppers_in_flight_;
  ++queries_in_flight_;
  entry.sync_on_skip = batch_.open && verdict.touch != sql::touch_kind::none;
  if (!verdict.prepares.empty() || !verdict.deallocates.empty() || verdict.redefines_unseen) {
    entry.sql_names = std::make_shared<const sql::text_verdict>(verdict);
    if (!text.empty()) entry.source = kept_text(text.substr(0, text.size() - 1));
  }
  mark_redefiner(entry, &verdict);
  mark_hold_dropper(entry, verdict.drops_session_locks);
  mark_definition(entry, verdict.defines_a_way);
  mark_under_hold(entry);
  batch_ = {};
  batch_goes_on_ = false;
  unnamed_closed_behind_ = true;
  owed_close_unnamed_ = false; // a simple query drops the unnamed statement by itself
}

void engine_core::mark_redefiner(expected_reply& entry, const sql::text_verdict* names) {
  if (names == nullptr) return;
  entry.redefines_names = redefines_names(*names);
  if (entry.redefines_names) ++redefiners_in_flight_;
}

// It drops them when the server runs it, which may be behind a lock call still in flight; an error does not
// give them back.
void engine_core::mark_hold_dropper(expected_reply& entry, bool drops) {
  entry.drops_holds = drops && keeps(gate_rule::doubt_dropped_holds);
  if (entry.drops_holds) ++hold_.droppers_in_flight;
}

void engine_core::mark_under_hold(expected_reply& entry) {
  entry.under_hold = std::exchange(next_under_hold_, pin_strength::none);
  under_hold_ = std::max(under_hold_, entry.under_hold);
}

/// A transaction is over: what is still in flight belongs to later ones.
void engine_core::forget_under_hold() {
  if (under_hold_ == pin_strength::none) return;
  under_hold_ = pin_strength::none;
  for (std::size_t i = 0; i < queue_.size(); ++i)
    under_hold_ = std::max(under_hold_, queue_.at(i).under_hold);
}

/// A hold says nothing of a snapshot that may be older: in a block at a higher level the proof is asked for
/// all the same (F3). A text that first leaves the transaction takes its snapshots under the hold.
bool engine_core::hold_is_early_enough(sql::control_kind first) const {
  if (kind_ == session_kind::replication) return true; // no proof exists there
  if (needs_no_proof(transaction_level())) return true;
  if (status_ == 'I') return idle() || !batch_.open;
  return status_ == 'E' && first != sql::control_kind::rollback_to;
}

/// A touch that a session-level hold covers. The client may drop session-level locks at any time, so the
/// transaction takes the lock as well, at once where that is possible in the same write, else as soon as it
/// is.
void engine_core::back_hold_with_pin(pin_strength strength, bool impossible) {
  if (!keeps(gate_rule::own_lock_under_hold)) return;
  const bool certain = status_ == 'T' && idle() && !batch_.open && kind_ == session_kind::gated;
  if (!certain || impossible || level_ == isolation_level::exempt)
    next_under_hold_ = strength;
  else
    inject_transaction_calls(strength);
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

sql::touch_kind engine_core::touch_of_function(std::uint32_t oid) const {
  if (oid < first_normal_object_id) {
    return runs_query_text(oid) || takes_two_key_lock(oid) ? sql::touch_kind::touch : sql::touch_kind::none;
  }
  const sql::touch_kind known = rules_->classifier->judge_function(oid);
  return catalog_doubted_ ? std::max(known, sql::touch_kind::touch) : known;
}

engine_core::fate engine_core::on_function_call(const frame& message) {
  if (skipping_) return fate::forward;
  learn_default_level();
  sql::text_verdict verdict;
  const std::uint32_t oid = message.body.size() >= 4 ? protocol::load_int32(message.body.data()) : 0;
  if (oid == set_config) on_isolation_mention(sql::isolation_mention::doubt);
  if (keeps(gate_rule::function_call_by_oid)) {
    verdict.touch = touch_of_function(oid);
    verdict.reason = sql::touch_reason::function;
  }
  see_front(verdict, {});
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
  mark_hold_dropper(entry, verdict.drops_session_locks);
  mark_under_hold(entry);
  batch_ = {};
  return fate::forward;
}

engine_core::fate engine_core::pin_simple(const sql::text_verdict& verdict, bool function_call,
                                          std::string_view text) {
  if (!keeps(gate_rule::pin)) return fate::forward;
  const pin_strength strength = strength_of(verdict.touch);
  if (take_stale()) {
    refuse_stale(false);
    return fate::discard;
  }
  const bool control = verdict.has_transaction_control && keeps(gate_rule::hold_for_control_text);
  if (pin_covers(strength) && !control && !verdict.prepares_transaction) return fate::forward;
  // A hold survives whatever the text does, unless the text itself drops session-level locks.
  const bool lasts = !verdict.drops_session_locks && !verdict.prepares_transaction;
  if (hold_covers(strength) && hold_is_early_enough(verdict.first) && lasts) {
    // F9: a lock call in front would take the snapshot that must not exist yet.
    back_hold_with_pin(strength, control || sets_transaction_up(verdict.first));
    return fate::forward;
  }

  const simple_situation now = situation_of(verdict, function_call);
  const pin_plan plan = plan_simple(now);
  if (!waits(plan)) {
    if (denied(verdict.touch)) {
      refuse_simple("42501", "this session may not change the mode of the ledger", rules_->admin_hint);
      return fate::discard;
    }
    note_upgrade(strength);
  }
  switch (plan) {
  case pin_plan::forward: return fate::forward;
  case pin_plan::wait_idle: wait_ = wait_for::idle; return fate::hold;
  case pin_plan::wait_base: wait_ = wait_for::base; return fate::hold;
  case pin_plan::run_first_statement:
    if (text.empty()) break; // too long to be seen whole
    inject_first_statement(text);
    return fate::hold;
  case pin_plan::ask_level: examine_level(strength, false); return fate::hold;
  case pin_plan::prove: pin_and_prove(strength, false, false); return fate::hold;
  case pin_plan::prove_with_session: pin_and_prove(strength, false, true); return fate::hold;
  case pin_plan::function_call: inject_function_call_pin(strength); return fate::forward;
  case pin_plan::in_batch:
  case pin_plan::in_batch_with_session: inject_batch_pin(strength, true); return fate::forward;
  case pin_plan::pin_for_prepare: inject_pin_for_prepare(strength); return fate::forward;
  case pin_plan::as_extended: inject_as_extended(strength, text, verdict.modifies); return fate::discard;
  case pin_plan::envelope: inject_envelope(strength, false); return fate::hold;
  case pin_plan::envelope_from_failed: inject_envelope_from_failed(strength); return fate::hold;
  case pin_plan::refuse: break;
  }
  refuse_unpinnable();
  return fate::discard;
}

void engine_core::refuse_unpinnable() {
  refuse_simple("0A000", "ledgergate cannot pin this text in the transaction state it is sent in",
                "Send the transaction control statement in it as a message of its own.");
}

simple_situation engine_core::situation_of(const sql::text_verdict& verdict, bool function_call) const {
  const bool inner_commit = verdict.may_commit_inside && !keeps(gate_rule::hold_for_inner_commit);
  simple_situation now;
  now.replies_outstanding = !idle() && keeps(gate_rule::known_state);
  now.batch_open = batch_.open || batch_goes_on_;
  now.base_known = base_known();
  now.bound_in_batch = batch_.bound || batch_goes_on_;
  now.function_call = function_call;
  now.replication = kind_ == session_kind::replication;
  now.status = status_;
  now.failed_for_sure = failed_for_sure();
  now.held = hold_covers(strength_of(verdict.touch));
  now.shape = inner_commit ? sql::text_shape::plain_dml : verdict.shape;
  now.has_transaction_control = verdict.has_transaction_control && keeps(gate_rule::hold_for_control_text);
  now.drops_session_locks = verdict.drops_session_locks;
  now.prepares_transaction = verdict.prepares_transaction;
  // A statement in front that fails inside a savepoint would take the lock of the transaction with it.
  now.only_prepares_at_its_end = verdict.only_prepares_at_its_end && !(savepoint_possible() && hold_.any());
  now.first = verdict.first;
  now.unread = verdict.parse_error != nullptr;
  now.first_ran = first_ran_;
  now.may_wait = !copy_in_open_;
  now.block_level = transaction_level();
  now.default_level = default_level();
  if (status_ == 'E' && !keeps(gate_rule::pin_in_failed_text)) now.has_transaction_control = false;
  return now;
}

void engine_core::count(sql::touch_kind touch) {
  switch (touch) {
  case sql::touch_kind::none: counters_.none.add(); return;
  case sql::touch_kind::touch: counters_.touch.add(); return;
  case sql::touch_kind::transition: counters_.transition.add(); return;
  }
}

/// Once for each message, however often it is held back. `text`: the body of a Query.
void engine_core::see_front(const sql::text_verdict& verdict, std::string_view text) {
  if (std::exchange(front_seen_, true)) return;
  count(verdict.touch);
  note_touch(verdict);
  note_observed(verdict.touch, verdict.reason, verdict.name, text);
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

void engine_core::note_observed(sql::touch_kind touch, sql::touch_reason reason, std::string_view name,
                                std::string_view text) {
  if (touch == sql::touch_kind::none || rules_->mode != config::gate_mode::observe) return;
  observed_ = true;
  note& seen = out_->notes.emplace_back();
  seen.what = note::kind::observed;
  seen.touch = touch;
  seen.reason = reason;
  seen.name = name;
  seen.text = text.substr(0, std::min(text.find('\0'), max_kept_text_bytes));
}

} // namespace ledgergate::gate
