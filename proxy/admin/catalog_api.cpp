#include "proxy/admin/catalog_api.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "proxy/admin/flat_json.hpp"

namespace ledgergate::admin {

namespace json = boost::json;

namespace {

json::array texts(const std::vector<std::string>& all) {
  json::array out;
  for (const std::string& each : all)
    out.emplace_back(each);
  return out;
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object render_access(const catalog::gated_access& access) {
  json::object out;
  out["accesses"] = texts(access.accesses);
  out["verdict"] = sql::to_string(access.touch);
  if (!access.columns.empty()) out["columns"] = texts(access.columns);
  out["configured"] = access.configured;
  out["why"] = texts(access.why);
  return out;
}

json::object render_object(const catalog::gated_object& object) {
  json::object out;
  out["kind"] = object.kind;
  out["schema"] = text_or_null(object.schema);
  out["name"] = object.name;
  out["oid"] = object.oid == 0 ? json::value(nullptr) : json::value(object.oid);
  json::array ways;
  for (const catalog::gated_access& access : object.accesses)
    ways.emplace_back(render_access(access));
  out["ways"] = std::move(ways);
  return out;
}

json::object render_catalog(const catalog_state& state) {
  json::object out = render_catalog_state(state);
  json::array gated;
  json::array unseen;
  if (state.report != nullptr) {
    for (const catalog::gated_object& object : state.report->gated)
      gated.emplace_back(render_object(object));
    for (const catalog::unseen_object& object : state.report->unseen) {
      unseen.emplace_back(json::object{{"kind", object.kind},
                                       {"schema", text_or_null(object.schema)},
                                       {"name", object.name},
                                       {"why", object.why}});
    }
  }
  out["gated"] = std::move(gated);
  out["unseen"] = std::move(unseen);
  return out;
}

json::object render_pin(const gate::pin_ways& pin) {
  json::object out{
      {"autocommit", pin.autocommit}, {"in_transaction", pin.in_transaction}, {"extended", pin.extended}};
  if (!pin.hint.empty()) out["hint"] = pin.hint;
  return out;
}

/// The objects that a statement's verdict rests on, with the reasons of the access it makes.
json::array render_paths(const sql::explained_statement& statement, const std::string& schema,
                         const catalog_state& state) {
  json::array out;
  if (state.report == nullptr || statement.access.empty()) return out;
  const std::string& wanted = statement.schema.empty() ? schema : statement.schema;
  for (const catalog::gated_object& object : state.report->gated) {
    const bool same_schema = wanted.empty() || object.schema.empty() || object.schema == wanted;
    if (object.name != statement.name || !same_schema) continue;
    for (const catalog::gated_access& access : object.accesses) {
      const auto& ways = access.accesses;
      if (std::find(ways.begin(), ways.end(), statement.access) == ways.end()) continue;
      out.emplace_back(json::object{{"kind", object.kind},
                                    {"name", catalog::shown_name(object.schema, object.name)},
                                    {"why", texts(access.why)}});
    }
  }
  return out;
}

json::object render_statement(const gate::explained_pin& each, const std::string& schema,
                              const catalog_state& state) {
  const sql::explained_statement& statement = each.statement;
  const bool touches = statement.touch != sql::touch_kind::none;
  json::object out;
  out["sql"] = each.text;
  out["verdict"] = sql::to_string(statement.touch);
  out["reason"] = touches ? json::value(sql::to_string(statement.reason)) : json::value(nullptr);
  out["name"] = touches ? text_or_null(statement.name) : json::value(nullptr);
  out["access"] = touches ? text_or_null(statement.access) : json::value(nullptr);
  out["paths"] = touches ? render_paths(statement, schema, state) : json::array();
  out["pin"] = render_pin(each.pin);
  return out;
}

json::object render_explanation(const gate::explanation& found, const std::string& schema,
                                const catalog_state& state) {
  const sql::text_verdict& verdict = found.whole.verdict;
  json::object out;
  out["verdict"] = sql::to_string(verdict.touch);
  out["reason"] = sql::to_string(verdict.reason);
  out["pin"] = render_pin(found.pin);
  if (!found.whole.parse_message.empty()) {
    json::object error{{"message", found.whole.parse_message}};
    error["position"] =
        found.whole.parse_position == 0 ? json::value(nullptr) : json::value(found.whole.parse_position);
    out["unreadable"] = std::move(error);
  }
  json::array statements;
  for (const gate::explained_pin& each : found.statements)
    statements.emplace_back(render_statement(each, schema, state));
  out["statements"] = std::move(statements);
  out["catalog_generation"] = state.generation;
  return out;
}

struct explain_request {
  std::string sql;
  std::string schema;
};

api_error bad_field(const char* code, const std::string& field, const std::string& why) {
  return {http_status::bad_request,
          code,
          "the field '" + field + "' " + why,
          "the fields are sql (required) and schema, both strings",
          {{"field", field}}};
}

std::variant<explain_request, api_error> read_request(std::string_view body) {
  auto parsed = parse_flat_json(body);
  if (const auto* error = std::get_if<flat_json_error>(&parsed)) {
    return api_error{http_status::bad_request, "malformed_json", error->message,
                     R"(send one object, for example {"sql": "select 1"})"};
  }
  explain_request request;
  bool has_sql = false;
  for (auto& [name, value] : std::get<flat_json_object>(parsed)) {
    auto* text = std::get_if<std::string>(&value);
    if (name != "sql" && name != "schema") return bad_field("unknown_field", name, "is not known");
    if (text == nullptr) {
      return bad_field("wrong_type", name, std::string("must be a string, not ") + kind_of(value));
    }
    has_sql = has_sql || name == "sql";
    (name == "sql" ? request.sql : request.schema) = std::move(*text);
  }
  if (!has_sql) return bad_field("missing_field", "sql", "is missing");
  return request;
}

http_response explain_reply(const catalog_backend& backend, const http_request& request) {
  auto read = read_request(request.body());
  if (const auto* error = std::get_if<api_error>(&read)) return error_reply(*error);
  const auto& wanted = std::get<explain_request>(read);
  return json_reply(http_status::ok,
                    render_explanation(backend.explain(wanted.sql), wanted.schema, backend.catalog()));
}

} // namespace

json::object render_catalog_state(const catalog_state& state) {
  json::object out;
  out["enabled"] = state.enabled;
  out["generation"] = state.generation;
  out["age_ms"] = state.age ? json::value(state.age->count()) : json::value(nullptr);
  out["names"] = state.report != nullptr ? state.report->gated.size() : 0;
  out["unseen_count"] = state.report != nullptr ? state.report->unseen.size() : 0;
  out["error"] = text_or_null(state.last_error);
  return out;
}

std::vector<route> catalog_routes(catalog_backend& backend) {
  std::vector<route> routes;
  routes.push_back({"GET", "/v1/catalog", effect::read, [&](const api_call&, const respond& answer) {
                      answer(json_reply(http_status::ok, render_catalog(backend.catalog())));
                    }});
  // It changes nothing, so whoever may read may ask; that it is a POST is for the length of the text.
  routes.push_back({"POST", "/v1/explain", effect::read, [&](const api_call& call, const respond& answer) {
                      answer(explain_reply(backend, call.request));
                    }});
  return routes;
}

} // namespace ledgergate::admin
