#include "proxy/gate/pin_plan.hpp"

namespace ledgergate::gate {

namespace {

/// COMMIT in a failed transaction rolls back as well.
bool leaves_failed_transaction(sql::control_kind first) {
  return first == sql::control_kind::rollback || first == sql::control_kind::commit ||
         first == sql::control_kind::rollback_and_chain || first == sql::control_kind::commit_and_chain;
}

} // namespace

pin_plan plan_simple(const simple_situation& now) {
  if (now.batch_open) {
    // The client mixes the protocols without a Sync. A text that ends the transaction in there cannot be
    // covered.
    return now.has_transaction_control ? pin_plan::refuse : pin_plan::in_batch_with_session;
  }
  if (now.replies_outstanding) return now.may_wait ? pin_plan::wait_idle : pin_plan::forward;
  switch (now.status) {
  case 'T':
    // A pin of the transaction would end with the text's own COMMIT or ROLLBACK TO; a session-level hold does
    // not.
    return now.has_transaction_control || now.replication ? pin_plan::envelope : pin_plan::function_call;
  case 'E':
    // F16: no lock call runs here. The statement fails by itself, unless its text first leaves the failed
    // transaction.
    if (!now.has_transaction_control) return pin_plan::forward;
    return leaves_failed_transaction(now.first) && !now.replication ? pin_plan::envelope_from_failed
                                                                    : pin_plan::refuse;
  default: break;
  }
  const bool one_plain_statement = now.shape == sql::text_shape::plain_dml && !now.has_transaction_control;
  return one_plain_statement && !now.function_call && !now.replication ? pin_plan::as_extended
                                                                       : pin_plan::envelope;
}

pin_plan plan_batch(const batch_situation& now) {
  const bool touched_base = now.begin_in_batch || now.end_in_batch;
  if (now.base_known && now.base_status == 'E' && !touched_base) return pin_plan::forward;
  const pin_plan here = now.savepoint_possible ? pin_plan::in_batch_with_session : pin_plan::in_batch;
  if (now.in_block()) return here;
  if (now.plain_dml && !now.may_commit_inside) return here;
  if (!now.base_known) return pin_plan::wait_base;
  // F33: a FunctionCall between Parse and the first Bind does no harm; later it would commit the implicit
  // transaction (F17).
  return now.bound_in_batch || touched_base ? pin_plan::in_batch_with_session : pin_plan::envelope;
}

} // namespace ledgergate::gate
