#include "proxy/transition/transition_record.hpp"

namespace ledgergate::transition {

std::string_view to_string(transition_state state) {
  switch (state) {
  case transition_state::planned: return "planned";
  case transition_state::waiting_applier: return "waiting_applier";
  case transition_state::waiting_quiet: return "waiting_quiet";
  case transition_state::queued: return "queued";
  case transition_state::holding: return "holding";
  case transition_state::committed: return "committed";
  case transition_state::aborted: return "aborted";
  case transition_state::unknown: return "unknown";
  }
  return {};
}

std::string_view to_string(abort_reason reason) {
  switch (reason) {
  case abort_reason::deadline: return "deadline";
  case abort_reason::guard: return "guard";
  case abort_reason::step: return "step";
  case abort_reason::harm: return "harm";
  case abort_reason::cancelled: return "cancelled";
  case abort_reason::conflict: return "conflict";
  }
  return {};
}

std::string_view to_string(attempt_outcome outcome) {
  switch (outcome) {
  case attempt_outcome::waiting: return "waiting";
  case attempt_outcome::granted: return "granted";
  case attempt_outcome::lock_timeout: return "lock_timeout";
  case attempt_outcome::harm: return "harm";
  case attempt_outcome::deadlock: return "deadlock";
  case attempt_outcome::cancelled: return "cancelled";
  case attempt_outcome::failed: return "failed";
  }
  return {};
}

std::string_view to_string(gate_hold hold) {
  switch (hold) {
  case gate_hold::pin: return "pin";
  case gate_hold::exclusive: return "exclusive";
  }
  return {};
}

} // namespace ledgergate::transition
