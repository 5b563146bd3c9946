#include "proxy/admin/api.hpp"

#include <string>
#include <utility>

#include "proxy/admin/json_render.hpp"
#include "proxy/admin/live_feed.hpp"
#include "proxy/admin/transition_request_reader.hpp"

namespace ledgergate::admin {

namespace http = boost::beast::http;
namespace json = boost::json;

namespace {

http_response probe_reply(const probe_report& report) {
  if (report.reasons.empty()) return json_reply(http_status::ok, {{"status", "ok"}});
  std::string message;
  json::array reasons;
  for (const std::string& reason : report.reasons) {
    if (!message.empty()) message += "; ";
    message += reason;
    reasons.emplace_back(reason);
  }
  return error_reply({http_status::service_unavailable,
                      "not_ready",
                      message,
                      "GET /v1/status says more",
                      {{"reasons", std::move(reasons)}}});
}

http_response status_reply(const admin_backend& backend) {
  return json_reply(http_status::ok, status_now(backend));
}

/// JSON for programs; the bare text for whoever asks for text.
http_response config_reply(const admin_backend& backend, const http_request& request) {
  const auto accept = request[http::field::accept];
  if (accept.find("text/plain") != accept.npos || accept.find("yaml") != accept.npos) {
    return text_reply(http_status::ok, "text/plain; charset=utf-8", backend.config_text());
  }
  return json_reply(http_status::ok, {{"format", "yaml"}, {"config", backend.config_text()}});
}

http_response no_such_transition() {
  return error_reply({http_status::not_found, "no_such_transition", "no transition has this id",
                      "GET /v1/transitions lists those this sidecar knows"});
}

http_response transition_reply(const admin_backend& backend, std::string_view id) {
  const auto record = backend.transition(std::string(id));
  if (!record) return no_such_transition();
  return json_reply(http_status::ok, render_transition(*record, backend.now()));
}

bool wants_events(const http_request& request) {
  const auto accept = request[http::field::accept];
  return request.method() == http::verb::get && accept.find("text/event-stream") != accept.npos;
}

void show_transition(const admin_backend& backend, transition_feeds& feeds, const api_call& call,
                     const respond& answer) {
  const auto record = wants_events(call.request) ? backend.transition(std::string(call.id)) : std::nullopt;
  if (record && answer.stream(feeds.subscribe(*record, backend.now()))) return;
  answer(transition_reply(backend, call.id));
}

std::string location_of(const std::string& id) { return "/v1/transitions/" + id; }

http_response conflict_reply(const start_answer& outcome) {
  json::object details;
  details["id"] = outcome.conflict_id.empty() ? json::value(nullptr) : json::value(outcome.conflict_id);
  const std::string message = !outcome.message.empty() ? outcome.message
                              : outcome.conflict_id.empty()
                                  ? "another transition runs"
                                  : "the transition " + outcome.conflict_id + " runs";
  http_response response =
      error_reply({http_status::conflict, "transition_running", message,
                   "one at a time: wait until it has ended, then ask again", std::move(details)});
  if (!outcome.conflict_id.empty()) response.set(http::field::location, location_of(outcome.conflict_id));
  return response;
}

/// What the control row says now, so that the caller sees what did not match.
json::object current_row(const status_report& status) {
  json::object details;
  details["mode"] = status.mode ? json::value(*status.mode) : json::value(nullptr);
  details["version"] = status.mode_version ? json::value(*status.mode_version) : json::value(nullptr);
  return details;
}

http_response unavailable_reply(const start_answer& outcome) {
  json::object details;
  if (outcome.error) details["server_error"] = render_server_error(*outcome.error);
  return error_reply({http_status::service_unavailable, "database_unavailable", outcome.message,
                      "nothing was changed; GET /v1/status says how the control connection is",
                      std::move(details)});
}

http_response start_reply(const admin_backend& backend, const start_answer& outcome) {
  using kind = enum start_answer::kind;
  switch (outcome.kind) {
  case kind::accepted: {
    http_response response =
        json_reply(http_status::accepted, render_transition(*outcome.record, backend.now()));
    response.set(http::field::location, location_of(outcome.record->id));
    return response;
  }
  case kind::already_there:
    return json_reply(http_status::ok, render_transition(*outcome.record, backend.now()));
  case kind::repeated: {
    // Whoever lost the first answer gets what became of it: as if it were the first while it runs.
    const auto status = outcome.record->is_final() ? http_status::ok : http_status::accepted;
    http_response response = json_reply(status, render_transition(*outcome.record, backend.now()));
    response.set(http::field::location, location_of(outcome.record->id));
    return response;
  }
  case kind::request_id_reused:
    return error_reply({http_status::conflict,
                        "request_id_reused",
                        outcome.message,
                        "a request_id stands for one request: choose another one",
                        {{"id", outcome.conflict_id}}});
  case kind::conflict: return conflict_reply(outcome);
  case kind::precondition_failed:
    return error_reply({http_status::precondition_failed, "precondition_failed", outcome.message,
                        "look at GET /v1/status and decide again", current_row(backend.status())});
  case kind::unknown_mode:
    return error_reply({http_status::bad_request, "unknown_mode", outcome.message,
                        "the modes are configured under 'modes' in ledgergate.yaml"});
  case kind::unavailable: break;
  }
  return unavailable_reply(outcome);
}

void plan_transition(admin_backend& backend, transition::transition_request request, respond answer) {
  backend.plan_transition(std::move(request), [&backend,
                                               answer = std::move(answer)](const plan_answer& outcome) {
    if (outcome.plan && outcome.record) {
      answer(json_reply(http_status::ok, render_plan(*outcome.record, *outcome.plan, backend.now())));
      return;
    }
    start_answer refusal;
    refusal.kind = outcome.unknown_mode ? start_answer::kind::unknown_mode : start_answer::kind::unavailable;
    refusal.message = outcome.error;
    answer(start_reply(backend, refusal));
  });
}

void start_transition(admin_backend& backend, const api_call& call, respond answer) {
  auto read = read_transition_request(call.request.body());
  if (const auto* error = std::get_if<api_error>(&read)) {
    backend.refused({call.peer, "POST", "/v1/transitions", error->code});
    answer(error_reply(*error));
    return;
  }
  auto& [request, dry_run] = std::get<transition_call>(read);
  request.requested_by = call.peer;
  if (dry_run) {
    plan_transition(backend, std::move(request), std::move(answer));
    return;
  }
  backend.start_transition(std::move(request),
                           [&backend, answer = std::move(answer)](const start_answer& outcome) {
                             answer(start_reply(backend, outcome));
                           });
}

http_response cancel_reply(admin_backend& backend, const api_call& call) {
  const std::string id(call.id);
  switch (backend.cancel_transition(id, call.peer)) {
  case cancel_result::asked:
    if (const auto record = backend.transition(id)) {
      return json_reply(http_status::accepted, render_transition(*record, backend.now()));
    }
    break;
  case cancel_result::too_late:
    return error_reply({http_status::conflict, "too_late_to_cancel",
                        "the transition holds the gate, or its outcome is being asked for: it ends by itself",
                        "watch GET " + location_of(id)});
  case cancel_result::already_ended:
    return error_reply({http_status::conflict, "already_ended", "the transition has ended already",
                        "GET " + location_of(id) + " says how"});
  case cancel_result::not_found: break;
  }
  return no_such_transition();
}

void list_pins(admin_backend& backend, respond answer) {
  backend.pins([answer = std::move(answer)](const pins_answer& outcome) {
    if (outcome.snapshot) {
      answer(json_reply(http_status::ok, render_pins(*outcome.snapshot)));
      return;
    }
    answer(error_reply({http_status::service_unavailable, "database_unavailable", outcome.error,
                        "GET /v1/status says how the control connection is"}));
  });
}

void list_sessions(admin_backend& backend, respond answer) {
  backend.sessions([answer = std::move(answer)](const std::vector<session::session_info>& sessions) {
    answer(json_reply(http_status::ok, render_sessions(sessions)));
  });
}

http_response drain_reply(admin_backend& backend, const api_call& call) {
  const bool begun = backend.drain(call.peer);
  return json_reply(http_status::accepted, {{"draining", true}, {"begun_now", begun}});
}

http_response reload_reply(const reload_outcome& outcome) {
  using kind = enum reload_outcome::kind;
  json::array listed;
  if (outcome.kind == kind::taken) {
    for (const std::string& key : outcome.changed)
      listed.emplace_back(key);
    return json_reply(http_status::accepted,
                      {{"reloaded", true}, {"file", outcome.file}, {"changed", std::move(listed)}});
  }
  for (const std::string& problem : outcome.problems)
    listed.emplace_back(problem);
  const bool invalid = outcome.kind == kind::invalid;
  return error_reply(
      {invalid ? http_status::unprocessable_entity : http_status::conflict,
       invalid ? "invalid_configuration" : "needs_restart",
       invalid ? "the new configuration has errors; the old one stays in force"
               : "the new configuration changes what only a restart can; the old one stays in force",
       invalid ? "mend the file and reload again; ledgergate --check-config shows the same errors"
               : "restart the sidecar, or take these changes out of the file and reload again",
       {{"problems", std::move(listed)}}});
}

/// The script is for the owner of the tables to run; asking for it changes nothing.
http_response install_reply(const admin_backend& backend, std::string_view kind) {
  using transition::guard_kind;
  const auto guards = kind == "refuse" ? std::optional(guard_kind::refuse)
                      : kind == "pin"  ? std::optional(guard_kind::pin)
                      : kind == "none" ? std::optional(guard_kind::none)
                                       : std::nullopt;
  if (!guards) {
    return error_reply({http_status::not_found, "no_such_guards", "there are no guards of this kind",
                        "ask for /v1/install/refuse, /v1/install/pin or /v1/install/none"});
  }
  const auto sql = backend.install_text(*guards);
  if (!sql) {
    return error_reply({http_status::service_unavailable, "database_unavailable",
                        "the control connection is down, so its role is not known",
                        "GET /v1/status says how it is"});
  }
  return json_reply(http_status::ok, {{"sql", *sql}});
}

/// A call that is answered on the spot.
template <typename Reply>
route read_route(std::string_view path, Reply reply, enum effect kind = effect::read) {
  return {"GET", path, kind,
          [reply = std::move(reply)](const api_call& call, const respond& answer) { answer(reply(call)); }};
}

/// Kubelets carry no token, and a probe tells no secrets.
template <typename Probe>
route probe_route(std::string_view path, Probe probe) {
  return read_route(
      path, [probe = std::move(probe)](const api_call&) { return probe_reply(probe()); }, effect::open);
}

} // namespace

std::vector<route> api_routes(admin_backend& backend, transition_feeds& feeds) {
  std::vector<route> routes;
  routes.push_back(probe_route("/livez", [&] { return backend.live(); }));
  routes.push_back(probe_route("/readyz", [&] { return backend.ready(); }));
  routes.push_back(probe_route("/startupz", [&] { return backend.started(); }));
  routes.push_back(read_route("/metrics", [&](const api_call&) {
    return text_reply(http_status::ok, "text/plain; version=0.0.4; charset=utf-8", backend.metrics_text());
  }));
  routes.push_back(read_route("/v1/status", [&](const api_call&) { return status_reply(backend); }));
  routes.push_back({"GET", "/v1/pins", effect::read,
                    [&](const api_call&, respond answer) { list_pins(backend, std::move(answer)); }});
  routes.push_back(
      read_route("/v1/install/{id}", [&](const api_call& call) { return install_reply(backend, call.id); }));
  routes.push_back(read_route("/v1/uninstall", [](const api_call&) {
    return json_reply(http_status::ok, {{"sql", transition::uninstall_text()}});
  }));
  routes.push_back({"GET", "/v1/sessions", effect::read,
                    [&](const api_call&, respond answer) { list_sessions(backend, std::move(answer)); }});
  routes.push_back({"POST", "/v1/drain", effect::change, [&](const api_call& call, const respond& answer) {
                      answer(drain_reply(backend, call));
                    }});
  routes.push_back({"POST", "/v1/reload", effect::change, [&](const api_call& call, const respond& answer) {
                      backend.reload(call.peer, [answer](const reload_outcome& outcome) {
                        answer(reload_reply(outcome));
                      });
                    }});
  routes.push_back(read_route("/v1/transitions", [&](const api_call&) {
    return json_reply(http_status::ok, render_transitions(backend.transitions(), backend.now()));
  }));
  routes.push_back({"POST", "/v1/transitions", effect::change, [&](const api_call& call, respond answer) {
                      start_transition(backend, call, std::move(answer));
                    }});
  routes.push_back(
      {"GET", "/v1/transitions/{id}", effect::read,
       [&](const api_call& call, const respond& answer) { show_transition(backend, feeds, call, answer); }});
  routes.push_back(
      {"DELETE", "/v1/transitions/{id}", effect::change,
       [&](const api_call& call, const respond& answer) { answer(cancel_reply(backend, call)); }});
  routes.push_back(
      read_route("/v1/config", [&](const api_call& call) { return config_reply(backend, call.request); }));
  return routes;
}

} // namespace ledgergate::admin
