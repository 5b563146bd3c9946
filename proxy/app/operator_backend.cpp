#include "proxy/app/operator_backend.hpp"

#include <chrono>
#include <utility>

#include "config/build_information.hpp"
#include "config/describe.hpp"
#include "config/names.hpp"
#include "proxy/app/catalog_view.hpp"

namespace ledgergate::app {

namespace {

std::string to_text(const config::endpoint& where) {
  if (where.is_unix()) return "unix:" + where.unix_path + " port " + std::to_string(where.port);
  return where.host + ":" + std::to_string(where.port);
}

std::string upstream_text(const config::upstream_settings& upstream) {
  std::string text;
  for (const config::endpoint& each : upstream.hosts)
    text += (text.empty() ? "" : ", ") + to_text(each);
  return text;
}

} // namespace

operator_backend::operator_backend(parts made_of)
    : parts_(std::move(made_of)), started_at_(std::chrono::system_clock::now()) {}

transition::wall_time operator_backend::now() const { return std::chrono::system_clock::now(); }

admin::probe_report operator_backend::live() const { return {}; }

admin::probe_report operator_backend::started() const {
  if (once_ready_) return {};
  return ready();
}

admin::probe_report operator_backend::ready() const {
  admin::probe_report report;
  if (parts_.draining()) report.reasons.emplace_back("shutting down");
  if (!parts_.upstream_known()) report.reasons.emplace_back("the upstream server was not reached yet");
  const session::upstream_health upstream = parts_.sessions.upstream();
  if (!upstream.reachable) {
    report.reasons.push_back("the upstream server cannot be connected to: " + upstream.last_failure);
  }
  if (report.reasons.empty()) once_ready_ = true;
  return report;
}

std::string operator_backend::metrics_text() const {
  const control::control_status control = parts_.control.status();
  parts_.metrics.set_pins(control.pins_held, control.pins_waiting);
  parts_.metrics.set_gate_mode(std::string(config::to_string(parts_.settings->gate.mode)));
  parts_.metrics.set_build(std::string(config::version()), std::string(config::commit()));
  const auto running = parts_.control.current();
  const bool runs = running && !running->is_final();
  parts_.metrics.set_control(control.connected, control.oldest_pin_age.value_or(transition::elapsed(0)),
                             runs ? now() - running->started_at : transition::elapsed(0));
  const control::catalog_status catalog = parts_.control.catalog();
  if (catalog.age) parts_.metrics.set_catalog_age(*catalog.age);
  if (catalog.report != nullptr) {
    parts_.metrics.set_catalog_size(catalog.report->gated.size(), catalog.report->unseen.size());
  }
  parts_.metrics.set_catalog_failures(catalog.failures);
  parts_.metrics.set_mode(parts_.settings->modes, control.mode.value_or(""));
  return parts_.metrics.render();
}

std::string operator_backend::config_text() const { return config::describe(*parts_.settings); }

admin::status_report operator_backend::status() const {
  const control::control_status control = parts_.control.status();
  admin::status_report report;
  report.version = config::version();
  report.started_at = started_at_;
  report.gate_mode = parts_.settings->gate.mode;
  report.database = parts_.settings->gate.database;
  report.lock_key = parts_.settings->gate.lock_key;
  report.modes = parts_.settings->modes;
  report.mode = control.mode;
  report.mode_version = control.version;
  report.mode_since = control.mode_since;
  report.catalog = to_admin(parts_.control.catalog());
  report.pins_held = control.pins_held;
  report.pins_waiting = control.pins_waiting;
  report.oldest_pin_age = control.oldest_pin_age;
  report.observed_at = control.observed_at;
  report.clients = parts_.sessions.clients();
  report.max_clients = parts_.max_clients;
  report.upstream = upstream_text(parts_.settings->upstream);
  report.upstream_error = parts_.sessions.upstream().last_failure;
  report.control_connected = control.connected;
  report.control_error = control.last_error;
  report.sidecars = control.sidecars;
  return report;
}

void operator_backend::pins(std::function<void(admin::pins_answer)> handler) {
  parts_.control.pins([this, handler = std::move(handler)](const control::pins_answer& found) {
    admin::pins_answer answer{found.snapshot, found.error};
    if (answer.snapshot) {
      name_sidecars(answer.snapshot->holders);
      name_sidecars(answer.snapshot->waiters);
    }
    handler(std::move(answer));
  });
}

/// Our own sessions are known by their backends; those of another sidecar by its address, when it is the only
/// one there.
void operator_backend::name_sidecars(std::vector<transition::gate_lock>& locks) const {
  if (locks.empty()) return;
  const auto own = parts_.cancels.clients_by_backend();
  const control::control_status control = parts_.control.status();
  for (transition::gate_lock& lock : locks) {
    const auto found = lock.pid ? own.find(*lock.pid) : own.end();
    if (found != own.end()) {
      lock.sidecar = control.own_name;
      lock.client = found->second;
    } else if (lock.pid) {
      lock.sidecar = transition::sidecar_at(control.sidecars, control.own_name, lock.client_address);
    }
  }
}

transition::transition_record operator_backend::named(transition::transition_record record) const {
  name_sidecars(record.blockers);
  return record;
}

void operator_backend::start_transition(transition::transition_request request,
                                        std::function<void(admin::start_answer)> handler) {
  observe::log(config::log_level::info, request.requested_by + " asks for a " +
                                            (request.rehearse ? "rehearsal of the " : "") + "transition to " +
                                            request.to);
  parts_.control.start_transition(std::move(request), std::move(handler));
}

void operator_backend::plan_transition(transition::transition_request request,
                                       std::function<void(admin::plan_answer)> handler) {
  transition::plan_context context;
  context.own_version = config::version();
  context.draining = parts_.draining();
  for (const auto& [pid, client] : parts_.cancels.clients_by_backend())
    context.own.clients.push_back(pid);
  parts_.control.plan(std::move(request), std::move(context),
                      [this, handler = std::move(handler)](admin::plan_answer answer) {
                        if (answer.record) answer.record = named(std::move(*answer.record));
                        handler(std::move(answer));
                      });
}

admin::cancel_result operator_backend::cancel_transition(const std::string& id, const std::string& peer) {
  observe::log(config::log_level::info, peer + " asks to cancel transition " + id);
  return parts_.control.cancel(id, peer);
}

std::optional<transition::transition_record> operator_backend::transition(const std::string& id) const {
  auto record = parts_.control.get(id);
  return record ? std::optional(named(std::move(*record))) : std::nullopt;
}

std::vector<transition::transition_record> operator_backend::transitions() const {
  return parts_.control.list();
}

std::optional<transition::transition_record> operator_backend::current_transition() const {
  auto record = parts_.control.current();
  return record ? std::optional(named(std::move(*record))) : std::nullopt;
}

void operator_backend::sessions(std::function<void(std::vector<session::session_info>)> handler) {
  parts_.list_sessions(std::move(handler));
}

std::optional<std::string> operator_backend::install_text(transition::guard_kind guards) const {
  return parts_.control.install_text(guards);
}

bool operator_backend::drain(const std::string& peer) {
  observe::log(config::log_level::info, peer + " asks to drain");
  return parts_.drain();
}

void operator_backend::reload(const std::string& peer, std::function<void(admin::reload_outcome)> handler) {
  parts_.reload(peer, std::move(handler));
}

void operator_backend::use(std::shared_ptr<const config::settings> settings, std::size_t max_clients) {
  parts_.settings = std::move(settings);
  parts_.max_clients = max_clients;
}

void operator_backend::refused(const admin::refused_request& request) {
  refused_.log(config::log_level::info, request.peer + " refused: " + request.method + " " + request.target +
                                            " (" + request.code + ")");
}

void operator_backend::on_transition_change(const transition::transition_record& record) {
  if (parts_.feeds.readers() > 0) parts_.feeds.publish(named(record), now());
  parts_.on_transition();
  const bool ended = record.is_final() || record.state == transition::transition_state::unknown;
  if (!ended) return;
  // The mode that status shows is from the last reading: it is read again now, not a second later.
  parts_.control.read_control_row([](const control::control_row_answer&) {});
  const bool was_there_already = record.state == transition::transition_state::committed && !record.changed;
  if (was_there_already) return;
  const std::string result = record.rehearsed ? "rehearsed" : std::string(to_string(record.state));
  // `unknown` resolves later into what really happened; both are counted, as both were reported.
  if (std::exchange(last_counted_, record.id + result) == record.id + result) return;
  parts_.metrics.count_transition(result);
  if (record.is_final()) {
    parts_.metrics.observe_transition_queue(record.timings.queue_wait);
    if (record.timings.hold.count() > 0) parts_.metrics.observe_transition_hold(record.timings.hold);
  }
}

} // namespace ledgergate::app
