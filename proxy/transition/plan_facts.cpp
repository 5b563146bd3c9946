// The rows of statements::plan(), in its order.
#include "proxy/transition/columns.hpp"
#include "proxy/transition/engine_limits.hpp"
#include "proxy/transition/plan.hpp"
#include "proxy/transition/statements.hpp"

namespace ledgergate::transition {

std::optional<plan_facts> read_plan_facts(const sql_result& result, wall_time now) {
  const auto* row = set_with_columns(result, 0);
  const auto* pins = set_with_columns(result, 1);
  const auto* standbys = set_with_columns(result, 2);
  const auto* rival = set_with_columns(result, 3);
  const auto* applier = set_with_columns(result, 4);
  const auto* server = set_with_columns(result, 5);
  const auto* fleet = set_with_columns(result, 6);
  const auto* clients = set_with_columns(result, 7);
  if (result.error || clients == nullptr || server->rows.size() != 1) return std::nullopt;
  plan_facts facts;
  facts.row = read_control_row(*row);
  facts.pins = read_pins(*pins, now);
  facts.missing_standby = missing_standby(*standbys);
  if (!rival->rows.empty()) {
    facts.rival = column(rival->rows.front(), 0).value_or("");
    facts.rival_id = transition_id_in(column(rival->rows.front(), 1).value_or(""));
  }
  if (!applier->rows.empty()) {
    const auto& held = applier->rows.front();
    facts.applier = applier_holder{number<std::int32_t>(column(held, 0)), column(held, 1).value_or(""),
                                   age(column(held, 2))};
  }
  facts.in_recovery = column(server->rows.front(), 0) == "t";
  facts.may_update = column(server->rows.front(), 1) == "t";
  facts.sidecars = read_control_sessions(*fleet);
  facts.clients = read_client_sessions(*clients);
  return facts;
}

} // namespace ledgergate::transition
