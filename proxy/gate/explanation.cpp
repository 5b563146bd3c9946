#include "proxy/gate/explanation.hpp"

#include <algorithm>

#include "proxy/gate/pin_plan.hpp"

namespace ledgergate::gate {

namespace {

std::string word_for(pin_plan plan) {
  switch (plan) {
  case pin_plan::forward: return "none";
  case pin_plan::function_call:
  case pin_plan::in_batch:
  case pin_plan::in_batch_with_session:
  case pin_plan::ask_level:
  case pin_plan::prove:
  case pin_plan::prove_with_session: return "inline";
  case pin_plan::as_extended: return "as_extended";
  case pin_plan::envelope:
  case pin_plan::envelope_from_failed:
  case pin_plan::pin_for_prepare:
  case pin_plan::run_first_statement:
  case pin_plan::wait_idle:
  case pin_plan::wait_base: return "envelope";
  case pin_plan::refuse: break;
  }
  return "refused";
}

pin_ways ways_of(const sql::text_verdict& verdict, const gate_rules& rules) {
  const bool enforced = rules.mode == config::gate_mode::enforce;
  if (verdict.touch == sql::touch_kind::none || !enforced) return {"none", "none", "none", {}};
  if (verdict.touch == sql::touch_kind::transition &&
      rules.in_band_transitions == config::in_band_policy::deny)
    return {"denied", "denied", "denied", rules.admin_hint};
  simple_situation simple;
  simple.shape = verdict.shape;
  simple.has_transaction_control = verdict.has_transaction_control;
  simple.first = verdict.first;
  simple.drops_session_locks = verdict.drops_session_locks;
  const auto simple_in = [&](char status) {
    simple.status = status;
    return word_for(plan_simple(simple));
  };
  batch_situation batch;
  batch.plain_dml =
      verdict.shape == sql::text_shape::plain_dml || verdict.shape == sql::text_shape::dml_with_params;
  batch.may_commit_inside = verdict.may_commit_inside;
  pin_ways ways{simple_in('I'), simple_in('T'), word_for(plan_batch(batch)), {}};
  // The server takes one statement per Parse.
  if (verdict.shape == sql::text_shape::several) ways.extended = "none";
  if (ways.autocommit == "refused" || ways.in_transaction == "refused")
    ways.hint = "Send the statement that drops session-level locks, or ends the transaction, as a message of "
                "its own.";
  return ways;
}

} // namespace

explanation explain(std::string_view text, const gate_rules& rules) {
  explanation out;
  const sql::reading_context context;
  out.whole = rules.classifier->explain(text, context);
  out.pin = ways_of(out.whole.verdict, rules);
  for (const sql::explained_statement& statement : out.whole.statements) {
    std::string alone(text.substr(statement.offset, statement.size));
    const std::size_t first = alone.find_first_not_of(" \t\r\n\f\v");
    alone.erase(0, std::min(first, alone.size()));
    while (!alone.empty() && std::string_view(" \t\r\n\f\v").find(alone.back()) != std::string_view::npos)
      alone.pop_back();
    const pin_ways pin = ways_of(rules.classifier->classify(alone, context), rules);
    out.statements.push_back({statement, std::move(alone), pin});
  }
  return out;
}

} // namespace ledgergate::gate
