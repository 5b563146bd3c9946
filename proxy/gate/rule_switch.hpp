// The rules of the engine that can be taken away one by one, to see whether the tests would notice. The
// product keeps them all: only the canary binary of the tests leaves one out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ledgergate::gate {

enum class gate_rule : std::uint8_t {
  pin,                      ///< G1: a touch is pinned at all
  savepoint_hold,           ///< F5: behind a savepoint a session-level lock is taken as well
  own_lock_under_hold,      ///< G2: a touch under a hold takes the transaction's own lock as well
  pin_again_behind_chain,   ///< F13: COMMIT AND CHAIN ends the pin
  pin_before_bind,          ///< F4: the snapshot is taken at Bind
  snapshot_proof,           ///< F3: a snapshot from before the last transition is refused
  hold_for_inner_commit,    ///< CALL and DO may commit inside: only a session-level lock lasts
  hold_for_control_text,    ///< a text that ends its transaction and goes on
  pin_in_failed_text,       ///< F16: a text that first leaves a failed transaction
  touch_by_statement_name,  ///< EXECUTE touches as the statement it names does
  doubt_redefined_names,    ///< a name that SQL redefines means nothing until that is answered
  doubt_dropped_holds,      ///< what pg_advisory_unlock_all took away is taken again
  exclusive_for_transition, ///< a mode change takes the gate exclusively
  function_call_by_oid,     ///< a client's own FunctionCall may touch
  known_state,              ///< the transaction state is never guessed
  touch_in_do,              ///< DO may touch
  doubt_new_definitions,    ///< behind CREATE VIEW .. anything may touch until the catalog was read again
};
inline constexpr std::size_t gate_rule_count = 17;

std::string_view to_string(gate_rule);
/// Nothing for a name that is none.
std::optional<gate_rule> rule_named(std::string_view name);

class rule_switch {
 public:
  bool keeps(gate_rule rule) const { return (left_out_ >> static_cast<unsigned>(rule) & 1U) == 0; }
  void leave_out(gate_rule rule) { left_out_ |= 1U << static_cast<unsigned>(rule); }

 private:
  std::uint32_t left_out_ = 0;
};

} // namespace ledgergate::gate
