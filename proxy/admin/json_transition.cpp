// The transition resource.
#include <algorithm>

#include "config/units.hpp"
#include "proxy/admin/json_render.hpp"
#include "proxy/admin/json_values.hpp"

namespace ledgergate::admin {

namespace json = boost::json;
using transition::transition_record;
using transition::transition_state;

namespace {

json::value duration_or_null(const std::optional<std::chrono::milliseconds>& duration) {
  return duration ? json::value(config::format_duration(*duration)) : json::value(nullptr);
}

json::object render_request(const transition::transition_request& request) {
  json::object out;
  out["to"] = request.to;
  out["from"] = text_or_null(request.from);
  out["expect_version"] = text_or_null(request.expect_version);
  out["reason"] = text_or_null(request.reason);
  out["queue_budget"] = duration_or_null(request.queue_budget);
  out["deadline"] = duration_or_null(request.deadline);
  out["request_id"] = text_or_null(request.request_id);
  out["rehearse"] = request.rehearse;
  out["requested_by"] = text_or_null(request.requested_by);
  return out;
}

json::value error_or_null(const std::optional<transition::server_error>& error) {
  return error ? json::value(render_server_error(*error)) : json::value(nullptr);
}

json::array render_attempts(const std::vector<transition::attempt>& attempts) {
  json::array out;
  for (const transition::attempt& attempt : attempts) {
    json::object entry;
    entry["number"] = out.size() + 1;
    entry["queued_at"] = to_rfc3339(attempt.queued_at);
    entry["queue_wait"] = in_milliseconds(attempt.queue_wait);
    entry["pins_waiting_max"] = attempt.pins_waiting_max;
    entry["outcome"] = std::string(transition::to_string(attempt.outcome));
    entry["server_error"] = error_or_null(attempt.error);
    out.emplace_back(std::move(entry));
  }
  return out;
}

json::object render_timings(const transition::transition_timings& timings) {
  json::object out;
  out["applier_wait"] = in_milliseconds(timings.applier_wait);
  out["quiet_wait"] = in_milliseconds(timings.quiet_wait);
  out["queue_wait"] = in_milliseconds(timings.queue_wait);
  out["hold"] = in_milliseconds(timings.hold);
  out["total"] = in_milliseconds(timings.total);
  out["max_writer_wait"] = in_milliseconds(timings.max_writer_wait);
  return out;
}

/// A clock that runs: how much of `total` is left of what began at `since`.
json::object render_clock(std::chrono::milliseconds total, transition::wall_time since,
                          transition::wall_time now) {
  const auto left = std::chrono::duration_cast<transition::elapsed>(since + total - now);
  json::object out;
  out["total_ms"] = total.count();
  out["left_ms"] = in_milliseconds(std::max(left, transition::elapsed::zero()));
  return out;
}

/// The deadline runs until the gate is held; the queue budget and the hold budget only in their states.
json::object render_clocks(const transition_record& record, transition::wall_time now) {
  const bool queued = record.state == transition_state::queued && !record.attempts.empty();
  const bool waits = queued || record.state == transition_state::planned ||
                     record.state == transition_state::waiting_applier ||
                     record.state == transition_state::waiting_quiet;
  const auto whole = std::chrono::round<std::chrono::milliseconds>(record.deadline_at - record.started_at);
  json::object out;
  out["deadline"] = waits ? json::value(render_clock(whole, record.started_at, now)) : json::value(nullptr);
  out["queue"] = queued
                     ? json::value(render_clock(record.queue_budget, record.attempts.back().queued_at, now))
                     : json::value(nullptr);
  out["hold"] = record.state == transition_state::holding
                    ? json::value(render_clock(record.hold_budget, record.state_since, now))
                    : json::value(nullptr);
  return out;
}

/// Null while it runs. In the state unknown there is a result that says no more than that.
json::value render_result(const transition_record& record) {
  if (!record.is_final() && record.state != transition_state::unknown) return nullptr;
  const bool known = record.is_final();
  json::object out;
  out["outcome"] = record.rehearsed ? "rehearsed" : std::string(transition::to_string(record.state));
  out["changed"] = known ? json::value(record.changed) : json::value(nullptr);
  const bool committed = record.state == transition_state::committed;
  out["mode"] = !known      ? json::value(nullptr)
                : committed ? json::value(record.to)
                            : text_or_null(record.from);
  out["version"] = !known           ? json::value(nullptr)
                   : record.changed ? text_or_null(record.version_after)
                                    : text_or_null(record.version_before);
  return out;
}

json::array render_evictions(const std::vector<transition::eviction>& evictions) {
  json::array out;
  for (const transition::eviction& each : evictions) {
    json::object entry;
    entry["at"] = to_rfc3339(each.at);
    entry["outcome"] = each.outcome;
    entry["holder"] = render_gate_lock(each.holder);
    out.emplace_back(std::move(entry));
  }
  return out;
}

} // namespace

json::object render_server_error(const transition::server_error& error) {
  json::object out;
  out["sqlstate"] = text_or_null(error.sqlstate);
  out["message"] = error.message;
  out["detail"] = text_or_null(error.detail);
  out["hint"] = text_or_null(error.hint);
  return out;
}

json::object render_transition(const transition_record& record, transition::wall_time now) {
  json::object out;
  out["id"] = record.id;
  out["state"] = std::string(transition::to_string(record.state));
  out["reason"] =
      record.reason ? json::value(std::string(transition::to_string(*record.reason))) : json::value(nullptr);
  out["message"] = record.message;
  out["changed"] = record.is_final() ? json::value(record.changed) : json::value(nullptr);
  out["from"] = text_or_null(record.from);
  out["to"] = record.to;
  out["version_before"] = text_or_null(record.version_before);
  out["version_after"] = text_or_null(record.version_after);
  out["started_at"] = to_rfc3339(record.started_at);
  out["state_since"] = to_rfc3339(record.state_since);
  out["finished_at"] = time_or_null(record.finished_at);
  out["request"] = render_request(record.request);
  out["clocks"] = render_clocks(record, now);
  out["attempts"] = render_attempts(record.attempts);
  out["timings"] = render_timings(record.timings);
  out["pins_waiting"] = record.pins_waiting;
  json::array blockers;
  for (const transition::gate_lock& lock : record.blockers)
    blockers.emplace_back(render_gate_lock(lock));
  out["blockers"] = std::move(blockers);
  out["evictions"] = render_evictions(record.evictions);
  out["result"] = render_result(record);
  out["sidecar"] = text_or_null(record.sidecar);
  out["recorded"] = record.recorded;
  out["server_error"] = error_or_null(record.error);
  return out;
}

json::object render_transitions(const std::vector<transition_record>& records, transition::wall_time now) {
  json::array list;
  for (const transition_record& record : records)
    list.emplace_back(render_transition(record, now));
  json::object out;
  out["transitions"] = std::move(list);
  return out;
}

} // namespace ledgergate::admin
