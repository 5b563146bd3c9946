// The answer to a dry run.
#include "proxy/admin/json_render.hpp"
#include "proxy/admin/json_values.hpp"

namespace ledgergate::admin {

namespace json = boost::json;
using transition::transition_plan;

namespace {

json::object render_pause(const transition_plan& plan) {
  json::object out;
  out["queue_ms"] = in_milliseconds(plan.predicted_queue_wait);
  out["hold_ms"] = in_milliseconds(plan.predicted_hold);
  out["at_most_ms"] = in_milliseconds(plan.longest_pause);
  return out;
}

} // namespace

json::object render_plan(const transition::transition_record& record, const transition_plan& plan,
                         transition::wall_time now) {
  json::array checks;
  for (const transition::plan_check& check : plan.checks) {
    json::object entry;
    entry["name"] = check.name;
    entry["verdict"] = std::string(transition::to_string(check.verdict));
    entry["message"] = check.message;
    checks.emplace_back(std::move(entry));
  }
  json::object body;
  body["possible"] = plan.possible();
  body["checks"] = std::move(checks);
  body["predicted_pause"] = render_pause(plan);
  body["oldest_pin"] = plan.oldest ? json::value(render_gate_lock(*plan.oldest)) : json::value(nullptr);
  body["idle_holders"] = plan.idle_holders;
  body["prepared_holders"] = plan.prepared_holders;
  body["past_the_sidecars"] =
      plan.past_the_sidecars ? json::value(*plan.past_the_sidecars) : json::value(nullptr);
  body["guards"] = plan.guards;
  body["steps"] = plan.steps;
  json::object out = render_transition(record, now);
  out["id"] = nullptr;
  out["dry_run"] = true;
  out["plan"] = std::move(body);
  return out;
}

} // namespace ledgergate::admin
