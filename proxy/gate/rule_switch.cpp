#include "proxy/gate/rule_switch.hpp"

#include <algorithm>
#include <array>

namespace ledgergate::gate {

namespace {

constexpr std::array<std::string_view, gate_rule_count> names = {
    "pin",
    "savepoint_hold",
    "own_lock_under_hold",
    "pin_again_behind_chain",
    "pin_before_bind",
    "snapshot_proof",
    "hold_for_inner_commit",
    "hold_for_control_text",
    "pin_in_failed_text",
    "touch_by_statement_name",
    "doubt_redefined_names",
    "doubt_dropped_holds",
    "exclusive_for_transition",
    "function_call_by_oid",
    "known_state",
    "touch_in_do",
    "doubt_new_definitions",
};

} // namespace

std::string_view to_string(gate_rule rule) { return names[static_cast<std::size_t>(rule)]; }

std::optional<gate_rule> rule_named(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<gate_rule>(found - names.begin());
}

} // namespace ledgergate::gate
