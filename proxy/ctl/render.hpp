// The resources of the admin API for people.
#pragma once

#include <boost/json/value.hpp>

#include "proxy/ctl/console.hpp"

namespace ledgergate::ctl {

/// GET /v1/status.
page render_status(const boost::json::value& status);

/// GET /v1/pins.
page render_pins(const boost::json::value& pins);

/// GET /v1/catalog.
page render_catalog(const boost::json::value& catalog);

/// GET /v1/observe.
page render_observe(const boost::json::value& observed);

/// POST /v1/explain.
page render_explanation(const boost::json::value& explanation);

/// Holders or waiters of the gate, at most `most` of them, with a heading.
page render_gate_locks(const boost::json::array& locks, std::size_t most, std::string_view indent);

/// A transition that runs: state, clocks, writers, blockers.
page render_progress(const boost::json::value& transition);

/// The same on one line, for a pipe or a log.
std::string progress_line(const boost::json::value& transition);

/// The answer to a dry run: checks, green and red, and the pause that writers would see.
page render_plan(const boost::json::value& plan);

/// GET /v1/transitions, newest first, one line each.
page render_history(const boost::json::value& history);

/// GET /v1/sessions.
page render_sessions(const boost::json::value& sessions);

/// How a transition ended, with what to do next when it did not go as asked.
page render_outcome(const boost::json::value& transition);

/// What it cost: `attempts 2, queue wait 120 ms, hold 4 ms, total 1.2 s, longest writer wait 80 ms`.
std::string cost_text(const boost::json::value& transition);

} // namespace ledgergate::ctl
