// The transition as the admin API shows it: what was asked for, how far it is, what it cost, how it ended.
// Pure values. The engine owns the record and changes it; everybody else is given copies.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/transition/pin_snapshot.hpp"

namespace ledgergate::transition {

/// What an operator asks for. Ranges and unknown fields are the admin port's business; modes are checked on
/// start.
struct transition_request {
  std::string to;                            ///< target mode, one of `modes`
  std::optional<std::string> from;           ///< compare-and-set on the mode
  std::optional<std::string> expect_version; ///< compare-and-set on the control row's version token
  std::optional<std::string> reason;         ///< free text for the log and the NOTIFY payload
  std::optional<std::chrono::milliseconds> queue_budget; ///< absent: transitions.queue_budget
  std::optional<std::chrono::milliseconds> deadline;     ///< absent: transitions.deadline
  std::optional<std::string> request_id; ///< a repeated request with the same one starts nothing anew
  bool rehearse = false;                 ///< everything up to the commit, then ROLLBACK
  std::string requested_by;              ///< who asked and from where, for log and history
};

/// States, as the admin API names them. The last three are final, except that `unknown` resolves into one of
/// the other two.
enum class transition_state {
  planned,         ///< accepted, nothing taken yet (also while the control connection comes back)
  waiting_applier, ///< waits for the applier lock; writers are not affected
  waiting_quiet,   ///< is not in the gate's queue: looks before it queues, or backs off between attempts
  queued,          ///< waits in the gate's queue: new pins wait behind it, for at most `queue_budget`
  holding,         ///< has the gate: guards, steps, control row, commit, within `hold_budget`
  committed,       ///< the mode is `to`
  aborted,         ///< nothing changed; see `reason`
  unknown,         ///< the connection died during COMMIT; resolves as soon as the database can be asked
};

/// Why a transition was aborted. The admin API knows these six; `message` and `error` say the particulars.
enum class abort_reason {
  deadline, ///< a clock ran out: the request's deadline, or `applier_timeout`
  guard,    ///< a guard did not return true, failed, or outlasted `hold_budget`
  step,     ///< a step, the change of the control row or another statement of the transition failed
  harm, ///< going on would have hurt: too many waiting pins, or no synchronous standby to confirm the commit
  cancelled, ///< by an operator, by shutdown, or by an administrator of the database (57014, 57P01)
  conflict,  ///< the control row is not what the request expects, or another transition runs
};

/// How one attempt at the gate ended.
enum class attempt_outcome {
  waiting,      ///< still in the queue
  granted,      ///< got the gate
  lock_timeout, ///< `queue_budget` expired (55P03): left the queue so that writers go on
  harm,         ///< `max_waiting_pins` had piled up: left the queue
  deadlock,     ///< 40P01: the transition is the victim, never a writer
  cancelled,    ///< cancelled while it waited
  failed,       ///< any other error, or the connection was lost
};

/// The server's own words for a statement that failed. `sqlstate` is 08006 when there was no server to ask.
struct server_error {
  std::string sqlstate;
  std::string message;
  std::string detail;
  std::string hint;
  bool operator==(const server_error&) const = default;
};

/// One stay in the gate's queue.
struct attempt {
  wall_time queued_at{};
  elapsed queue_wait{0};
  std::size_t pins_waiting_max = 0; ///< most pins seen to wait behind this attempt
  attempt_outcome outcome = attempt_outcome::waiting;
  std::optional<server_error> error; ///< what ended it, when a server error did
};

/// An idle holder of the gate that was ended so that the transition could go on.
struct eviction {
  gate_lock holder;
  wall_time at{};
  std::string
      outcome; ///< `ended`; `gone` when it was no longer there, or no longer idle; else the server's words
};

/// What it cost, so far or in the end. `queue_wait` per attempt stands in the attempts.
struct transition_timings {
  elapsed applier_wait{0};
  elapsed quiet_wait{0}; ///< waited without queueing, back-off included
  elapsed queue_wait{0}; ///< total over all attempts
  elapsed hold{0};       ///< from the grant until the commit or rollback was confirmed
  elapsed total{0};
  elapsed max_writer_wait{0}; ///< longest wait of a pin behind this transition as seen in the lock table
};

/// The whole resource.
struct transition_record {
  std::string id; ///< a UUID
  transition_request request;
  transition_state state = transition_state::planned;
  std::optional<abort_reason> reason; ///< set when aborted
  std::string message;                ///< what it waits for now, or how it ended, in one sentence
  std::optional<server_error> error;  ///< the server error that ended it
  std::optional<std::string> from;    ///< the mode it found
  std::string to;
  std::optional<std::string> version_before; ///< version token of the control row that it found
  std::optional<std::string> version_after;  ///< the token after its own change
  bool changed = false;                      ///< true only when it committed and the mode was another before
  bool rehearsed =
      false; ///< a rehearsal that got as far as the commit; its state is aborted, without a reason

  wall_time started_at{};
  wall_time deadline_at{};
  wall_time state_since{};
  std::optional<wall_time> finished_at;      ///< set in the states committed and aborted
  std::chrono::milliseconds queue_budget{0}; ///< the budgets in force for this request
  std::chrono::milliseconds hold_budget{0};

  std::vector<attempt> attempts;
  transition_timings timings;
  std::vector<gate_lock> blockers; ///< who holds the gate now (while it waits), oldest first
  std::size_t pins_waiting = 0;    ///< pins that wait now, at the last observation
  std::vector<eviction> evictions;
  std::string sidecar;   ///< which one carried it out; empty: this one
  bool recorded = false; ///< it stands in the audit table

  bool is_final() const { return state == transition_state::committed || state == transition_state::aborted; }
};

/// The admin API's word for each value.
std::string_view to_string(transition_state state);
std::string_view to_string(abort_reason reason);
std::string_view to_string(attempt_outcome outcome);
std::string_view to_string(gate_hold hold);

} // namespace ledgergate::transition
