#include "proxy/admin/observe_api.hpp"

#include <string>
#include <utility>

#include "config/names.hpp"
#include "proxy/admin/json_values.hpp"

namespace ledgergate::admin {

namespace json = boost::json;

namespace {

json::object render(const observe::observed_statement& each) {
  json::object pin;
  pin["count"] = each.pins;
  const auto average =
      each.pins == 0 ? std::chrono::microseconds(0) : each.pinned / static_cast<std::int64_t>(each.pins);
  pin["average_ms"] = in_milliseconds(average);
  pin["longest_ms"] = in_milliseconds(each.longest);
  json::object out;
  out["user"] = text_or_null(each.user);
  out["application"] = text_or_null(each.application);
  out["statement"] = text_or_null(each.statement);
  out["verdict"] = each.verdict;
  out["reason"] = each.reason;
  out["name"] = text_or_null(each.name);
  out["executions"] = each.executions;
  out["pin"] = std::move(pin);
  return out;
}

json::object render(const observation& found) {
  json::array statements;
  for (const observe::observed_statement& each : found.seen.statements)
    statements.emplace_back(render(each));
  json::object out;
  out["gate_mode"] = std::string(config::to_string(found.mode));
  out["since"] = to_rfc3339(found.since);
  out["statements"] = std::move(statements);
  out["left_out"] = found.seen.left_out;
  return out;
}

} // namespace

std::vector<route> observe_routes(std::function<observation()> source) {
  return {{"GET", "/v1/observe", effect::read,
           [source = std::move(source)](const api_call&, const respond& answer) {
             answer(json_reply(http_status::ok, render(source())));
           }}};
}

} // namespace ledgergate::admin
