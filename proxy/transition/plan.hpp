// The plan of a transition: what it would find now, what would refuse it, and how long writers would pause.
// Read-only; the same questions that a transition asks, asked without taking anything. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/transition/fleet.hpp"
#include "proxy/transition/rows.hpp"
#include "proxy/transition/transition_record.hpp"

namespace ledgergate::transition {

/// One question and its answer.
struct plan_check {
  enum class verdict {
    good,
    warning, ///< it would start, and may take long, or deserves a look
    bad,     ///< it would be refused, or would end without a change
  };
  std::string name; ///< `mode`, `from`, `version`, `slot`, `applier`, `pins`, `standby`, ..
  enum verdict verdict = verdict::good;
  std::string message; ///< one sentence
};
std::string_view to_string(enum plan_check::verdict verdict);

/// Who holds the applier key now.
struct applier_holder {
  std::optional<std::int32_t> pid;
  std::string application;
  std::optional<elapsed> age;
};

/// What the rows of statements::plan() say.
struct plan_facts {
  control_row row;
  pin_snapshot pins;
  std::optional<std::string> missing_standby; ///< a sentence
  std::optional<std::string> rival;           ///< name of the session that holds the transition's slot
  std::string rival_id;                       ///< its transition, when it says so
  std::optional<applier_holder> applier;
  bool in_recovery = false;
  bool may_update = true; ///< the control row's columns
  std::vector<control_session> sidecars;
  std::vector<client_session> clients;
};
/// Nothing when an answer is missing.
std::optional<plan_facts> read_plan_facts(const sql_result& result, wall_time now);

/// What the sidecar knows by itself.
struct plan_context {
  bool deadlock_timeout_shortened = false;
  bool control_connected = true;
  bool draining = false;
  std::string own_version;
  own_backends own;
  std::optional<elapsed> last_hold; ///< of the last transition or rehearsal to this mode
};

struct transition_plan {
  std::vector<plan_check> checks;
  std::size_t guards = 0;
  std::size_t steps = 0;
  std::size_t idle_holders = 0;
  std::size_t prepared_holders = 0;
  std::optional<std::size_t> past_the_sidecars; ///< sessions; absent in a plan that could not look
  std::optional<gate_lock> oldest;              ///< the oldest pin's owner
  /// How long writers would most likely wait in the queue and under the gate. Transactions in flight are met
  /// at a random moment, so the rest of each is distributed as its age: the oldest age stands for the rest
  /// that the transition would wait for.
  elapsed predicted_queue_wait{0};
  std::optional<elapsed> predicted_hold; ///< absent: no such transition has been seen yet
  elapsed longest_pause{0};              ///< the bound: queue_budget and hold_budget

  bool possible() const; ///< no check is bad
};

transition_plan make_plan(const config::settings& settings, const transition_request& request,
                          const plan_facts& facts, const plan_context& context);

/// The plan in the form of the resource it would become: state `planned`, blockers, budgets.
transition_record planned_record(const config::settings& settings, const transition_request& request,
                                 const plan_facts& facts, wall_time now);

} // namespace ledgergate::transition
