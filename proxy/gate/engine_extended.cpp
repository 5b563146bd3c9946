#include <algorithm>
#include <utility>

#include "protocol/frontend_message.hpp"
#include "proxy/gate/engine_core.hpp"

namespace ledgergate::gate {

namespace {

// A statement that could not be read: pinned, and nothing is assumed of it.
statement_class unread_statement() {
  statement_class statement;
  statement.touch = sql::touch_kind::touch;
  statement.reason = sql::touch_reason::unparsed;
  statement.plain_dml = false;
  statement.may_commit_inside = true;
  statement.control_unknown = true;
  return statement;
}

} // namespace

void engine_core::open_batch() {
  if (batch_.open) return;
  batch_ = {};
  batch_.open = true;
  batch_.bound = batch_goes_on_;
  batch_.base_outstanding = queue_.size();
  ++batch_serial_;
  // A simple query drops the unnamed statement. One sent as extended does so with its last Close, which an
  // error skips.
  if (as_extended_in_flight_ && !unnamed_closed_behind_) {
    owed_close_unnamed_ = true;
    unnamed_closed_behind_ = true;
  }
  if (!owed_close_unnamed_) return;
  owed_close_unnamed_ = false;
  out_->to_server.inject(rules_->messages.close_unnamed_statement);
  queue_.push(reply_kind::close, reply_owner::proxy, reply_purpose::tidy);
}

engine_core::fate engine_core::on_parse(const frame& message) {
  if (skipping_) return fate::forward;
  learn_default_level();
  open_batch();
  statement_class statement;
  std::string_view name;
  const auto parse = message.whole ? protocol::decode_parse(message.body) : std::nullopt;
  if (parse) {
    name = parse->statement;
    sql::text_verdict verdict = rules_->classifier->classify(parse->query, reading_);
    judge_parameters(verdict, parse->types);
    statement = class_of(verdict);
    statement.control = sql::leading_control_statement(parse->query);
    const bool observes =
        verdict.touch != sql::touch_kind::none && rules_->mode == config::gate_mode::observe;
    if (!name.empty() || !verdict.prepares.empty() || observes)
      statement.source = kept_text(parse->query, parse->types);
    note_touch(verdict);
  } else if (!message.whole) {
    statement = unread_statement();
    name = message.body.substr(0, message.body.find('\0'));
    sql::text_verdict verdict;
    verdict.touch = statement.touch;
    verdict.reason = statement.reason;
    verdict.parse_error = "too_long";
    note_touch(verdict);
  }
  statement.generation = rules_->generation;
  named_statement* const target = names_.begin_parse(name, statement, batch_serial_);
  expected_reply& entry = queue_.push(reply_kind::parse, reply_owner::client);
  entry.statement = target;
  return fate::forward;
}

engine_core::fate engine_core::on_bind(const frame& message) {
  if (skipping_) return fate::forward;
  learn_default_level();
  open_batch();
  const auto bind = protocol::decode_bind(message.body);
  statement_class statement; // of a message that is not well formed: refused by the server
  if (bind && (!bind->statement.empty() || names_.find("", batch_serial_))) {
    statement = class_of_statement(bind->statement);
  } else if (!bind && !message.whole) {
    statement = unread_statement();
  }
  doubt(statement);
  const fate decided = keeps(gate_rule::pin_before_bind) ? pin_extended(statement) : fate::forward;
  if (decided != fate::forward) return decided;
  if (bind) portals_.bind(bind->portal, statement, batch_serial_);
  batch_.bound = true;
  mark_under_hold(queue_.push(reply_kind::bind, reply_owner::client));
  return fate::forward;
}

engine_core::fate engine_core::on_execute(const frame& message) {
  if (skipping_) return fate::forward;
  learn_default_level();
  open_batch();
  const auto portal = protocol::decode_execute(message.body);
  const auto found = portal ? portals_.find(*portal, batch_serial_) : std::nullopt;
  statement_class statement;
  statement.control_unknown = portal && !found; // a portal made by SQL, or one of a transaction that is over
  if (found) statement = found->generation == rules_->generation ? *found : judged_again(*found);
  doubt(statement);
  if (!front_seen_) {
    front_seen_ = true;
    count(statement.touch);
    const auto& source = statement.source;
    note_observed(statement.touch, statement.reason, {}, source ? source->text : std::string_view{});
  }
  const fate decided = pin_extended(statement);
  if (decided != fate::forward) return decided;
  if (statement.control == sql::control_kind::prepare_transaction && ready_for_prepare() == fate::hold)
    return fate::hold;
  // An inner commit leaves what it did under the hold alone.
  if (statement.may_commit_inside)
    next_under_hold_ = std::max(next_under_hold_, strength_of(statement.touch));
  expected_reply& entry = queue_.push(reply_kind::execute, reply_owner::client);
  entry.may_drop_pin = statement.may_drop_pin() || statement.may_commit_inside;
  entry.sql_names = statement.sql_names;
  entry.source = statement.source;
  data_sent_ = false;
  if (entry.may_drop_pin) ++droppers_in_flight_;
  mark_hold_dropper(entry, statement.drops_session_locks || statement.control_unknown);
  mark_definition(entry, statement.defines_a_way);
  mark_under_hold(entry);
  mark_redefiner(entry, entry.sql_names.get());
  if (entry.redefines_names) ++batch_serial_; // what was parsed before it may mean something else behind it
  after_execute(statement);
  return fate::forward;
}

/// What the rest of the batch can rely on once this Execute has succeeded. If it fails the rest is skipped.
void engine_core::after_execute(const statement_class& statement) {
  batch_.bound = true;
  on_isolation_mention(statement.isolation);
  batch_.level_set = batch_.level_set || statement.isolation != sql::isolation_mention::none;
  if (statement.drops_session_locks) batch_.held = pin_strength::none;
  if (statement.may_drop_pin() || statement.may_commit_inside) batch_.pinned = pin_strength::none;
  batch_.commit_last =
      statement.control == sql::control_kind::commit || statement.control == sql::control_kind::rollback;
  if (statement.may_drop_pin() && statement.control != sql::control_kind::rollback_to)
    batch_.left_block = true;
  if (statement.control_unknown) {
    batch_.end = true;
    batch_.begin = false;
    savepoint_maybe_ = true;
    return;
  }
  switch (statement.control) {
  case sql::control_kind::begin:
    batch_.begin = true;
    batch_.end = false;
    return;
  case sql::control_kind::savepoint: savepoint_maybe_ = true; return;
  case sql::control_kind::commit:
  case sql::control_kind::rollback:
    batch_.end = true;
    batch_.begin = false;
    return;
  case sql::control_kind::commit_and_chain:
  case sql::control_kind::rollback_and_chain: batch_.chained = true; [[fallthrough]];
  case sql::control_kind::prepare_transaction:
    batch_.end = true;
    batch_.begin = false;
    return;
  case sql::control_kind::rollback_to:
    // It succeeds only in a transaction block, and leaves it open and not failed.
    batch_.begin = true;
    batch_.end = false;
    return;
  case sql::control_kind::none:
  case sql::control_kind::release:
  case sql::control_kind::other_two_phase:
  case sql::control_kind::set_transaction: return;
  }
}

bool engine_core::pinned_in_batch(const statement_class& statement, const batch_situation& now) const {
  const pin_strength strength = strength_of(statement.touch);
  // An inner commit outside a transaction block drops what is held at transaction level.
  if (now.may_commit_inside && !now.in_block()) return false;
  return (batch_.pinned >= strength && survives_savepoints(strength)) || pin_covers(strength);
}

/// A touch that a session-level hold covers: the transaction takes the lock as well, because the client may
/// drop session-level locks at any time. Not in front of what could tell the difference (F33), nor of what
/// would lose it at once.
void engine_core::back_hold_in_batch(const statement_class& statement, const batch_situation& now) {
  if (now.base_known && now.base_status == 'E' && !now.begin_in_batch && !now.end_in_batch) return;
  const pin_strength strength = strength_of(statement.touch);
  if (kind_ == session_kind::gated &&
      (now.in_block() || (statement.plain_dml && !statement.may_commit_inside)))
    inject_batch_pin(strength, false);
  else
    next_under_hold_ = strength;
}

/// The same for a statement that touches nothing, behind touches that only a hold covers.
engine_core::fate engine_core::pin_what_the_hold_covers_in_batch(const statement_class& statement) {
  if (under_hold_ == pin_strength::none || batch_.pinned >= under_hold_ || kind_ != session_kind::gated)
    return fate::forward;
  if (!statement.drops_session_locks && statement.control != sql::control_kind::savepoint)
    return fate::forward;
  if (batch_.end || batch_.refused) return fate::forward;
  if (!base_known()) {
    wait_ = wait_for::base;
    return fate::hold;
  }
  if (status_ == 'T' || (status_ == 'I' && statement.drops_session_locks))
    inject_batch_pin(under_hold_, false);
  return fate::forward;
}

engine_core::fate engine_core::pin_extended(const statement_class& statement) {
  if (rules_->mode != config::gate_mode::enforce || !keeps(gate_rule::pin)) return fate::forward;
  if (statement.touch == sql::touch_kind::none) return pin_what_the_hold_covers_in_batch(statement);
  if (batch_.refused) return fate::forward;
  if (take_stale()) {
    refuse_stale(true);
    return fate::forward; // the server skips it
  }
  const pin_strength strength = strength_of(statement.touch);
  const batch_situation now = situation_of(statement);
  if (pinned_in_batch(statement, now)) return fate::forward;
  const bool early_enough = (now.base_known && !now.in_block()) || needs_no_proof(now.block_level);
  const bool held = std::max(hold_.strength(), batch_.held) >= strength;
  if (held && early_enough && !statement.drops_session_locks) {
    back_hold_in_batch(statement, now);
    return fate::forward;
  }
  const pin_plan plan = plan_batch(now);
  if (!waits(plan)) {
    if (denied(statement.touch)) {
      refuse_in_batch("42501", "this session may not change the mode of the ledger", rules_->admin_hint);
      return fate::forward; // the server skips it
    }
    note_upgrade(strength);
  }
  switch (plan) {
  case pin_plan::wait_base: wait_ = wait_for::base; return fate::hold;
  case pin_plan::ask_level: examine_level(strength, true); return fate::hold;
  case pin_plan::prove: pin_and_prove(strength, true, false); return fate::hold;
  case pin_plan::in_batch: inject_batch_pin(strength, false); return fate::forward;
  case pin_plan::in_batch_with_session: inject_batch_pin(strength, true); return fate::forward;
  case pin_plan::envelope: inject_envelope(strength, true); return fate::hold;
  case pin_plan::refuse:
    refuse_in_batch("0A000",
                    "ledgergate cannot pin a statement at this isolation level behind others of one batch",
                    "Send a Sync in front of it, or use a transaction block.");
    return fate::forward; // the server skips it
  case pin_plan::forward:
  case pin_plan::function_call:
  case pin_plan::as_extended:
  case pin_plan::envelope_from_failed:
  case pin_plan::prove_with_session:
  case pin_plan::run_first_statement:
  case pin_plan::pin_for_prepare:
  case pin_plan::wait_idle: break;
  }
  return fate::forward;
}

/// Of the block a message of the batch runs in.
isolation_level engine_core::block_level_in_batch() const {
  if (!batch_.left_block || !keeps(gate_rule::snapshot_proof)) return transaction_level();
  return level_doubted_ || default_level() != isolation_level::low ? isolation_level::unknown
                                                                   : isolation_level::low;
}

batch_situation engine_core::situation_of(const statement_class& statement) const {
  const bool inner_commit = statement.may_commit_inside && keeps(gate_rule::hold_for_inner_commit);
  batch_situation now;
  now.base_known = base_known();
  now.base_status = status_;
  now.failed_for_sure = failed_for_sure();
  now.begin_in_batch = batch_.begin;
  now.end_in_batch = batch_.end;
  now.chained_in_batch = batch_.chained;
  now.bound_in_batch = batch_.bound;
  now.level_set_in_batch = batch_.level_set;
  now.savepoint_possible = savepoint_possible();
  now.plain_dml = statement.plain_dml || (statement.may_commit_inside && !inner_commit);
  now.may_commit_inside = inner_commit;
  now.held = hold_covers(strength_of(statement.touch));
  now.block_level = block_level_in_batch();
  now.default_level = default_level();
  return now;
}

// F12: before PREPARE TRANSACTION the hold becomes a transaction-level lock. Inside the batch, and only where
// a transaction block is certain: elsewhere the statement fails by itself.
engine_core::fate engine_core::ready_for_prepare() {
  if (pins_in_flight_ > 0 && !base_known()) {
    wait_ = wait_for::base;
    return fate::hold;
  }
  if (batch_.held != pin_strength::none) {
    refuse_in_batch("0A000",
                    "ledgergate cannot give a lock of its own to a transaction prepared in this batch",
                    "Send a Sync in front of PREPARE TRANSACTION.");
    return fate::forward;
  }
  if (!hold_.any()) return fate::forward;
  if (!base_known() || hold_.releasing > 0) {
    wait_ = wait_for::base;
    return fate::hold;
  }
  if (status_ != 'T' || batch_.end) return fate::forward;
  inject_batch_pin(hold_.taken(), false);
  inject_release();
  return fate::forward;
}

engine_core::fate engine_core::on_describe(const frame&) {
  if (skipping_) return fate::forward;
  learn_default_level();
  open_batch();
  queue_.push(reply_kind::describe, reply_owner::client);
  return fate::forward;
}

engine_core::fate engine_core::on_close(const frame& message) {
  if (skipping_) return fate::forward;
  learn_default_level();
  open_batch();
  const auto target = protocol::decode_target(message.body);
  if (target && target->target == 'P') portals_.close(target->name);
  expected_reply& entry = queue_.push(reply_kind::close, reply_owner::client);
  if (target && target->target == 'S') entry.name = std::make_shared<const std::string>(target->name);
  return fate::forward;
}

engine_core::fate engine_core::on_sync() {
  discard_to_sync_ = false;
  skipping_ = false;
  if (!copy_in_open_) batch_goes_on_ = false;
  const bool release = batch_.open && batch_.commit_last && hold_.any() && base_known() && status_ != 'I' &&
                       client_rest_ == 0 && kind_ == session_kind::gated;
  expected_reply& entry = queue_.push(reply_kind::sync, reply_owner::client);
  entry.maybe_eaten = copy_in_open_;
  entry.behind_data = data_sent_;
  batch_ = {};
  if (!release) return fate::forward;
  out_->to_server.inject(rules_->messages.sync); // the same five bytes as the client's
  inject_release();
  return fate::discard;
}

} // namespace ledgergate::gate
