#include "proxy/gate/pin_plan.hpp"

#include "proxy/gate/statement_names.hpp"

namespace ledgergate::gate {

namespace {

// The client mixes the protocols without a Sync. A text that ends the transaction in there cannot be covered,
// and no proof can stand in front of it.
pin_plan plan_inside_batch(const simple_situation& now) {
  // Behind mere Parse and Close messages a session-level lock can still be taken (F33).
  const bool may_hold = !now.bound_in_batch && now.status != 'E' && !now.drops_session_locks;
  if (now.has_transaction_control && !may_hold) return pin_plan::refuse;
  if (!now.base_known) return pin_plan::wait_base;
  const bool low = now.block_level == isolation_level::low && now.default_level == isolation_level::low;
  if (now.has_transaction_control) return low ? pin_plan::envelope : pin_plan::refuse;
  return low ? pin_plan::in_batch_with_session : pin_plan::refuse;
}

pin_plan plan_in_block(const simple_situation& now) {
  const bool control = now.has_transaction_control && !now.only_prepares_at_its_end;
  // Nothing can hold the lock through a text that gives it back and goes on.
  if (control && now.drops_session_locks) return pin_plan::refuse;
  if (now.replication) return pin_plan::envelope;
  if (sets_transaction_up(now.first) && !now.first_ran && !now.unread) return pin_plan::run_first_statement;
  switch (now.block_level) {
  case isolation_level::exempt:
    if (!control) return pin_plan::forward;
    break;
  case isolation_level::unknown: return pin_plan::ask_level;
  case isolation_level::high: return control ? pin_plan::prove_with_session : pin_plan::prove;
  case isolation_level::low:
  case isolation_level::proven: break;
  }
  // A pin of the transaction would end with the text's own COMMIT or ROLLBACK TO; a session-level hold does
  // not.
  if (control) return pin_plan::envelope;
  // F12: a prepared transaction must own its lock, and refuses beside a session-level one.
  return now.only_prepares_at_its_end ? pin_plan::pin_for_prepare : pin_plan::function_call;
}

// F16: no lock call runs here. The statement fails by itself, unless its text first leaves the failed
// transaction.
pin_plan plan_in_failed(const simple_situation& now) {
  if (!now.has_transaction_control || !leaves_transaction(now.first)) return pin_plan::forward;
  // Going back to a savepoint twice is going back once: from there on it is a text in an open transaction.
  if (now.first == sql::control_kind::rollback_to && !now.replication && !now.unread)
    return now.first_ran ? pin_plan::forward : pin_plan::run_first_statement;
  // Where the server cannot read it either it runs nothing of it: then nothing may run in front of it.
  const bool possible = !now.replication && !now.drops_session_locks && !now.unread;
  return possible ? pin_plan::envelope_from_failed : pin_plan::refuse;
}

pin_plan plan_in_autocommit(const simple_situation& now) {
  const bool plain = now.shape == sql::text_shape::plain_dml && !now.has_transaction_control;
  // At a higher level by default the lock must be granted before the snapshot exists.
  const bool early_enough = now.default_level == isolation_level::low || now.held;
  if (plain && !now.function_call && !now.replication && early_enough) return pin_plan::as_extended;
  // Through the extended protocol it is one statement, or an error in the server's own words, and the
  // transaction's own lock outlasts what it may do to session-level ones.
  const bool unread_one = now.unread && now.shape == sql::text_shape::other_single && early_enough;
  if (unread_one && now.drops_session_locks && !now.replication) return pin_plan::as_extended;
  if (plain && now.drops_session_locks && !now.replication && !now.function_call) return pin_plan::envelope;
  return now.drops_session_locks ? pin_plan::refuse : pin_plan::envelope;
}

} // namespace

bool waits(pin_plan plan) {
  return plan == pin_plan::forward || plan == pin_plan::wait_idle || plan == pin_plan::wait_base;
}

pin_plan plan_simple(const simple_situation& now) {
  if (now.failed_for_sure && plan_in_failed(now) == pin_plan::forward) return pin_plan::forward;
  // Where the prepared transaction cannot be given a lock of its own the text is refused before anything
  // runs.
  const bool can_own = now.only_prepares_at_its_end && now.status == 'T' && !now.replication;
  if (now.prepares_transaction && !can_own && !now.replies_outstanding) return pin_plan::refuse;
  if (now.batch_open) return plan_inside_batch(now);
  if (now.replies_outstanding) return now.may_wait ? pin_plan::wait_idle : pin_plan::forward;
  switch (now.status) {
  case 'T': return plan_in_block(now);
  case 'E': return plan_in_failed(now);
  default: return plan_in_autocommit(now);
  }
}

pin_plan plan_batch(const batch_situation& now) {
  const bool touched_base = now.begin_in_batch || now.end_in_batch;
  if (now.failed_for_sure || (now.base_known && now.base_status == 'E' && !touched_base))
    return pin_plan::forward;
  // SET TRANSACTION outside a block warns, and holds for the implicit transaction all the same.
  const bool implicit_low = now.default_level == isolation_level::low && !now.level_set_in_batch;
  if (!now.base_known && !(implicit_low && now.block_level == isolation_level::low))
    return pin_plan::wait_base;
  if (now.chained_in_batch && now.block_level != isolation_level::low) return pin_plan::refuse;
  const pin_plan here = now.savepoint_possible ? pin_plan::in_batch_with_session : pin_plan::in_batch;
  if (now.in_block()) {
    switch (now.block_level) {
    case isolation_level::exempt: return pin_plan::forward;
    case isolation_level::unknown: return pin_plan::ask_level;
    case isolation_level::high: return pin_plan::prove;
    case isolation_level::low:
    case isolation_level::proven: return here;
    }
  }
  if (now.plain_dml && !now.may_commit_inside && implicit_low) return here;
  if (!now.base_known) return pin_plan::wait_base;
  // F33: a FunctionCall between Parse and the first Bind does no harm; later it would commit the implicit
  // transaction (F17).
  if (!now.bound_in_batch && !touched_base && !now.held) return pin_plan::envelope;
  // The hold makes the lock inside the batch wait for nobody.
  if (!now.bound_in_batch && now.held) return now.may_commit_inside ? pin_plan::refuse : pin_plan::in_batch;
  // The snapshot of the implicit transaction exists already: no lock taken now is early enough.
  return implicit_low ? pin_plan::in_batch_with_session : pin_plan::refuse;
}

} // namespace ledgergate::gate
