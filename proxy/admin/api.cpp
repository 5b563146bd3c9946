#include "proxy/admin/api.hpp"

#include <string>
#include <utility>

#include "proxy/admin/json_render.hpp"
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
  std::optional<transition::transition_record> last;
  for (transition::transition_record& record : backend.transitions()) {
    if (!record.is_final()) continue;
    last = std::move(record);
    break;
  }
  return json_reply(http_status::ok,
                    render_status(backend.status(), backend.current_transition(), last, backend.now()));
}

/// JSON for programs; the bare text for whoever asks for text.
http_response config_reply(const admin_backend& backend, const http_request& request) {
  const auto accept = request[http::field::accept];
  if (accept.find("text/plain") != accept.npos || accept.find("yaml") != accept.npos) {
    return text_reply(http_status::ok, "text/plain; charset=utf-8", backend.config_text());
  }
  return json_reply(http_status::ok, {{"format", "yaml"}, {"config", backend.config_text()}});
}

http_response transition_reply(const admin_backend& backend, std::string_view id) {
  const auto record = backend.transition(std::string(id));
  if (!record) {
    return error_reply({http_status::not_found, "no_such_transition", "no transition has this id",
                        "GET /v1/transitions lists those this sidecar knows"});
  }
  return json_reply(http_status::ok, render_transition(*record, backend.now()));
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
  using kind = start_answer::kind;
  switch (outcome.what) {
  case kind::accepted: {
    http_response response =
        json_reply(http_status::accepted, render_transition(*outcome.record, backend.now()));
    response.set(http::field::location, location_of(outcome.record->id));
    return response;
  }
  case kind::already_there:
    return json_reply(http_status::ok, render_transition(*outcome.record, backend.now()));
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

void start_transition(admin_backend& backend, const api_call& call, respond answer) {
  auto read = read_transition_request(call.request.body());
  if (const auto* error = std::get_if<api_error>(&read)) {
    backend.refused({call.peer, "POST", "/v1/transitions", error->code});
    answer(error_reply(*error));
    return;
  }
  backend.start_transition(std::get<transition::transition_request>(std::move(read)), call.peer,
                           [&backend, answer = std::move(answer)](const start_answer& outcome) {
                             answer(start_reply(backend, outcome));
                           });
}

void list_pins(admin_backend& backend, respond answer) {
  backend.pins([answer = std::move(answer)](const pins_answer& outcome) {
    if (outcome.report) {
      answer(json_reply(http_status::ok, render_pins(*outcome.report)));
      return;
    }
    answer(error_reply({http_status::service_unavailable, "database_unavailable", outcome.error,
                        "GET /v1/status says how the control connection is"}));
  });
}

/// A call that is answered on the spot.
template <typename Reply>
route read_route(std::string_view path, Reply reply) {
  return {"GET", path, effect::read,
          [reply = std::move(reply)](const api_call& call, const respond& answer) { answer(reply(call)); }};
}

} // namespace

std::vector<route> api_routes(admin_backend& backend) {
  std::vector<route> routes;
  routes.push_back(read_route("/livez", [&](const api_call&) { return probe_reply(backend.live()); }));
  routes.push_back(read_route("/readyz", [&](const api_call&) { return probe_reply(backend.ready()); }));
  routes.push_back(read_route("/startupz", [&](const api_call&) { return probe_reply(backend.started()); }));
  routes.push_back(read_route("/metrics", [&](const api_call&) {
    return text_reply(http_status::ok, "text/plain; version=0.0.4; charset=utf-8", backend.metrics_text());
  }));
  routes.push_back(read_route("/v1/status", [&](const api_call&) { return status_reply(backend); }));
  routes.push_back({"GET", "/v1/pins", effect::read,
                    [&](const api_call&, respond answer) { list_pins(backend, std::move(answer)); }});
  routes.push_back(read_route("/v1/transitions", [&](const api_call&) {
    return json_reply(http_status::ok, render_transitions(backend.transitions(), backend.now()));
  }));
  routes.push_back({"POST", "/v1/transitions", effect::change, [&](const api_call& call, respond answer) {
                      start_transition(backend, call, std::move(answer));
                    }});
  routes.push_back(read_route("/v1/transitions/{id}",
                              [&](const api_call& call) { return transition_reply(backend, call.id); }));
  routes.push_back(
      read_route("/v1/config", [&](const api_call& call) { return config_reply(backend, call.request); }));
  return routes;
}

} // namespace ledgergate::admin
