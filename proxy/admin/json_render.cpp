#include "proxy/admin/json_render.hpp"

#include <cstdio>

#include "config/names.hpp"
#include "config/units.hpp"
#include "proxy/admin/json_values.hpp"

namespace ledgergate::admin {

namespace json = boost::json;

std::string to_rfc3339(transition::wall_time time) {
  using namespace std::chrono;
  const auto in_milliseconds = floor<milliseconds>(time);
  const auto day = floor<days>(in_milliseconds);
  const year_month_day date{day};
  const hh_mm_ss clock{in_milliseconds - day};
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

json::object render_gate_lock(const transition::gate_lock& lock) {
  json::object out;
  out["hold"] = std::string(transition::to_string(lock.hold));
  out["pid"] = lock.pid ? json::value(*lock.pid) : json::value(nullptr);
  out["backend_start"] = time_or_null(lock.backend_start);
  out["prepared_gid"] = text_or_null(lock.prepared_gid);
  out["user"] = text_or_null(lock.user);
  out["application"] = text_or_null(lock.application);
  out["client_address"] = text_or_null(lock.client_address);
  out["client_port"] = lock.client_port ? json::value(*lock.client_port) : json::value(nullptr);
  out["sidecar"] = text_or_null(lock.sidecar);
  out["client"] = text_or_null(lock.client);
  out["state"] = text_or_null(lock.state);
  out["age_ms"] = in_milliseconds(lock.age());
  out["state_age_ms"] = in_milliseconds(lock.state_age);
  out["wait_ms"] = in_milliseconds(lock.wait);
  out["idle"] = lock.is_idle();
  out["wait_event"] = text_or_null(lock.wait_event);
  out["waits_for_applier"] = lock.waits_for_applier;
  out["query"] = text_or_null(lock.query);
  return out;
}

namespace {

json::array render_gate_locks(const std::vector<transition::gate_lock>& locks) {
  json::array out;
  for (const transition::gate_lock& lock : locks)
    out.emplace_back(render_gate_lock(lock));
  return out;
}

json::object render_pin_counts(const status_report& report) {
  json::object pins;
  pins["held"] = report.pins_held;
  pins["waiting"] = report.pins_waiting;
  pins["oldest_age_ms"] = in_milliseconds(report.oldest_pin_age);
  return pins;
}

json::array render_sidecars(const std::vector<transition::sidecar_seen>& sidecars) {
  json::array out;
  for (const transition::sidecar_seen& sidecar : sidecars) {
    json::object entry;
    entry["name"] = sidecar.name;
    entry["version"] = sidecar.version;
    entry["host"] = sidecar.host;
    entry["address"] = text_or_null(sidecar.address);
    entry["connected_since"] = time_or_null(sidecar.since);
    out.emplace_back(std::move(entry));
  }
  return out;
}

} // namespace

json::object render_pins(const transition::pin_snapshot& pins) {
  json::object out;
  out["observed_at"] = to_rfc3339(pins.observed_at);
  out["held"] = pins.pins_held();
  out["waiting"] = pins.pins_waiting();
  out["oldest_age_ms"] = in_milliseconds(pins.oldest_pin_age());
  out["holders"] = render_gate_locks(pins.holders);
  out["waiters"] = render_gate_locks(pins.waiters);
  return out;
}

json::object render_sessions(const std::vector<session::session_info>& sessions) {
  json::array list;
  for (const session::session_info& each : sessions) {
    json::object entry;
    entry["client"] = each.client;
    entry["user"] = text_or_null(each.user);
    entry["database"] = text_or_null(each.database);
    entry["gate"] = each.gate;
    entry["state"] = each.state;
    entry["pinned"] = each.pinned;
    entry["backend_pid"] = each.backend_pid ? json::value(*each.backend_pid) : json::value(nullptr);
    entry["client_tls"] = text_or_null(each.client_tls);
    entry["server_tls"] = text_or_null(each.server_tls);
    entry["bytes_from_client"] = each.bytes_from_client;
    entry["bytes_from_server"] = each.bytes_from_server;
    entry["age_ms"] = each.age.count();
    list.emplace_back(std::move(entry));
  }
  json::object out;
  out["sessions"] = std::move(list);
  return out;
}

json::object render_status(const status_report& report,
                           const std::optional<transition::transition_record>& current,
                           const std::optional<transition::transition_record>& last,
                           transition::wall_time now) {
  json::object gate;
  gate["mode"] = std::string(config::to_string(report.gate_mode));
  gate["database"] = report.database;
  gate["lock_key"] = config::format_key(report.lock_key);

  json::object ledger;
  ledger["mode"] = text_or_null(report.mode);
  ledger["version"] = text_or_null(report.mode_version);
  ledger["modes"] = json::array(report.modes.begin(), report.modes.end());
  ledger["since"] = time_or_null(report.mode_since);
  ledger["observed_at"] = time_or_null(report.observed_at);

  json::object clients;
  clients["connected"] = report.clients;
  clients["limit"] = report.max_clients;

  json::object upstream;
  upstream["address"] = report.upstream;
  upstream["reachable"] = report.upstream_error.empty();
  upstream["error"] = text_or_null(report.upstream_error);

  json::object control;
  control["connected"] = report.control_connected;
  control["error"] = text_or_null(report.control_error);

  json::object out;
  out["version"] = report.version;
  out["time"] = to_rfc3339(now);
  out["started_at"] = to_rfc3339(report.started_at);
  out["uptime_ms"] =
      in_milliseconds(std::chrono::duration_cast<transition::elapsed>(now - report.started_at));
  out["gate"] = std::move(gate);
  out["ledger"] = std::move(ledger);
  out["pins"] = render_pin_counts(report);
  out["clients"] = std::move(clients);
  out["upstream"] = std::move(upstream);
  out["control"] = std::move(control);
  out["catalog"] = render_catalog_state(report.catalog);
  out["transition"] = current ? json::value(render_transition(*current, now)) : json::value(nullptr);
  out["last_transition"] = last ? json::value(render_transition(*last, now)) : json::value(nullptr);
  out["sidecars"] = render_sidecars(report.sidecars);
  return out;
}

} // namespace ledgergate::admin
