// What the control plane answers to an operator's wishes: start, plan, cancel. Pure values.
#pragma once

#include <optional>
#include <string>

#include "proxy/transition/plan.hpp"
#include "proxy/transition/transition_record.hpp"

namespace ledgergate::transition {

/// To a request for a transition, before it runs.
struct start_answer {
  enum class kind {
    accepted,          ///< it runs; `record` is its first state
    already_there,     ///< the mode is `to` already; `record` is committed with `changed` false
    repeated,          ///< this request_id was accepted before; `record` is what became of it so far
    conflict,          ///< another transition runs; `conflict_id` when it is known, also from another sidecar
    request_id_reused, ///< this request_id was accepted before, for another change; see `conflict_id`
    precondition_failed, ///< `from` or `expect_version` do not match, or there is no control row
    unknown_mode,        ///< `to` or `from` is not a configured mode
    unavailable,         ///< the database cannot be asked, or refuses; nothing was changed
  };
  enum kind kind = kind::unavailable;
  std::optional<transition_record> record; ///< with accepted, already_there and repeated
  std::string conflict_id;                 ///< empty when the other one does not say
  std::string message;                     ///< why, in one sentence; empty with accepted
  std::optional<server_error> error;       ///< the server's words, when a statement failed
};

/// To a dry run: the plan, in the form of the resource that it would become.
struct plan_answer {
  std::optional<transition_record> record; ///< in state planned, without an id
  std::optional<transition_plan> plan;
  bool unknown_mode = false; ///< `to` or `from` is not a configured mode
  std::string error;         ///< set when there is no plan
};

/// To the wish to cancel a transition.
enum class cancel_result {
  asked,         ///< it waits, and will be aborted
  too_late,      ///< it holds the gate and will finish, or its outcome is being asked for
  already_ended, ///< committed or aborted
  not_found,     ///< this sidecar knows no transition of this id
};

} // namespace ledgergate::transition
