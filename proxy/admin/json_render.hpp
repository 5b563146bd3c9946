// The resources of the admin API as JSON. Times are UTC in RFC 3339 form with milliseconds; durations are
// milliseconds in members ending in `_ms`, but for `timings`, whose names are fixed. What is not
// known is null, never left out.
#pragma once

#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "proxy/admin/admin_backend.hpp"

namespace ledgergate::admin {

/// `2026-11-30T18:05:09.123Z`.
std::string to_rfc3339(transition::wall_time time);

/// GET /v1/transitions/{id}. `now` is for the clocks: what is left of the deadline and of the budget in
/// force.
boost::json::object render_transition(const transition::transition_record& record, transition::wall_time now);

/// The answer to a dry run: the same resource, in state planned and without an id, with `plan` beside it.
boost::json::object render_plan(const transition::transition_record& record,
                                const transition::transition_plan& plan, transition::wall_time now);

/// GET /v1/transitions.
boost::json::object render_transitions(const std::vector<transition::transition_record>& records,
                                       transition::wall_time now);

/// GET /v1/pins.
boost::json::object render_pins(const transition::pin_snapshot& pins);

/// GET /v1/sessions.
boost::json::object render_sessions(const std::vector<session::session_info>& sessions);

/// GET /v1/status. `current` runs now, `last` is the newest one that has ended.
boost::json::object render_status(const status_report& report,
                                  const std::optional<transition::transition_record>& current,
                                  const std::optional<transition::transition_record>& last,
                                  transition::wall_time now);

/// A server error as {"sqlstate", "message", "detail", "hint"}.
boost::json::object render_server_error(const transition::server_error& error);

/// A holder or waiter of the gate.
boost::json::object render_gate_lock(const transition::gate_lock& lock);

} // namespace ledgergate::admin
