#include "proxy/transition/plan.hpp"

#include <algorithm>
#include <utility>

#include "proxy/transition/record_book.hpp"

namespace ledgergate::transition {

namespace {

using verdict = enum plan_check::verdict;

std::string milliseconds_text(elapsed duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) + " ms";
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::size_t texts_of(const std::map<std::string, std::vector<std::string>>& by_mode,
                     const std::string& mode) {
  const auto found = by_mode.find(mode);
  return found == by_mode.end() ? 0 : found->second.size();
}

plan_check check_mode(const transition_request& request, const control_row& row) {
  if (row.row_count == 0) return {"mode", verdict::bad, "the control row does not exist: insert it once"};
  if (row.row_count > 1) return {"mode", verdict::bad, "control_row.where selects more than one row"};
  const std::string found = row.mode.value_or("NULL");
  if (found == request.to) return {"mode", verdict::warning, "the mode is " + found + " already"};
  return {"mode", verdict::good, "the mode is " + found + " and would become " + request.to};
}

void compare(std::vector<plan_check>& checks, const transition_request& request, const control_row& row) {
  const std::string mode = row.mode.value_or("NULL");
  const std::string version = row.version.value_or("NULL");
  if (request.from) {
    const bool fits = row.mode == request.from;
    checks.push_back({"from", fits ? verdict::good : verdict::bad,
                      "the mode is " + mode + (fits ? "" : ", not ") + (fits ? "" : *request.from)});
  }
  if (request.expect_version) {
    const bool fits = row.version == request.expect_version;
    checks.push_back({"version", fits ? verdict::good : verdict::bad,
                      "the control row's version is " + version + (fits ? "" : ", not ") +
                          (fits ? "" : *request.expect_version)});
  }
}

plan_check check_slot(const plan_facts& facts) {
  if (!facts.rival) return {"slot", verdict::good, "no other transition runs"};
  std::string text = "another transition runs";
  if (!facts.rival_id.empty()) text += ": " + facts.rival_id;
  if (!facts.rival->empty()) text += ", started by " + *facts.rival;
  return {"slot", verdict::bad, std::move(text)};
}

plan_check check_server(const plan_facts& facts, const plan_context& context) {
  if (context.draining) return {"sidecar", verdict::bad, "this sidecar is shutting down"};
  if (!context.control_connected) {
    return {"sidecar", verdict::bad, "the connection for transitions is down"};
  }
  if (facts.in_recovery) return {"server", verdict::bad, "the server is a standby: nothing can be changed"};
  if (!facts.may_update) {
    return {"privileges", verdict::bad, "the control role may not UPDATE the control row"};
  }
  return {"server", verdict::good, "connected, and the control row may be changed"};
}

plan_check check_applier(const plan_facts& facts) {
  if (!facts.applier) return {"applier", verdict::good, "the applier lock is free"};
  std::string text = "the applier lock is held";
  if (facts.applier->pid) text += " by pid " + std::to_string(*facts.applier->pid);
  if (!facts.applier->application.empty()) text += " (" + facts.applier->application + ")";
  if (facts.applier->age) text += " for " + milliseconds_text(*facts.applier->age);
  return {"applier", verdict::warning, text + "; a transition waits for it first"};
}

plan_check check_pins(const transition_plan& plan, const plan_facts& facts, elapsed queue_budget) {
  if (!plan.oldest) return {"pins", verdict::good, "nobody holds the gate"};
  transition_record described;
  described.blockers = facts.pins.holders;
  const std::string who = describe_blockers(described);
  if (plan.oldest->age().value_or(elapsed(0)) <= queue_budget) {
    return {"pins", verdict::good, "the gate is held by " + who};
  }
  return {"pins", verdict::warning,
          "the oldest pin is older than the queue budget, so a transition waits without queueing: " + who};
}

plan_check check_idle(const transition_plan& plan, const config::transition_settings& settings) {
  if (plan.idle_holders == 0) return {"idle", verdict::good, "no holder of the gate is idle"};
  std::string text = counted(plan.idle_holders, "holder of the gate is", "holders of the gate are") +
                     " idle and may keep a transition waiting until the deadline";
  if (settings.evict_idle_after) text += "; evict_idle_after ends them";
  return {"idle", verdict::warning, std::move(text)};
}

plan_check check_prepared(std::size_t count) {
  if (count == 0) return {"prepared", verdict::good, "no prepared transaction holds the gate"};
  return {"prepared", verdict::warning,
          counted(count, "prepared transaction holds", "prepared transactions hold") +
              " the gate until somebody commits or rolls back"};
}

plan_check check_fleet(const plan_facts& facts, const std::string& own_version) {
  const auto sidecars = sidecars_of(facts.sidecars);
  std::string others;
  for (const sidecar_seen& seen : sidecars) {
    if (seen.version == own_version) continue;
    others += (others.empty() ? "" : ", ") + seen.name;
  }
  if (!others.empty()) {
    return {"fleet", verdict::warning, "sidecars of another version than " + own_version + ": " + others};
  }
  return {"fleet", verdict::good,
          counted(sidecars.size(), "sidecar is", "sidecars are") + " connected, of one version"};
}

plan_check check_bypass(const std::vector<client_session>& past) {
  if (past.empty())
    return {"bypass", verdict::good, "no session is seen to reach the database past the sidecars"};
  std::string who;
  for (std::size_t i = 0; i < std::min<std::size_t>(past.size(), 3); ++i) {
    who += (i == 0 ? "pid " : ", pid ") + std::to_string(past[i].pid) + " (" + past[i].user;
    if (!past[i].application.empty()) who += ", " + past[i].application;
    who += ")";
  }
  return {"bypass", verdict::warning,
          counted(past.size(), "session reaches", "sessions reach") +
              " the database past the sidecars, as far as their addresses tell: " + who};
}

const gate_lock* oldest_holder(const pin_snapshot& pins) {
  const gate_lock* oldest = nullptr;
  for (const gate_lock& lock : pins.holders) {
    if (oldest == nullptr || lock.age().value_or(elapsed(0)) > oldest->age().value_or(elapsed(0))) {
      oldest = &lock;
    }
  }
  return oldest;
}

} // namespace

std::string_view to_string(enum plan_check::verdict verdict) {
  switch (verdict) {
  case plan_check::verdict::good: return "good";
  case plan_check::verdict::warning: return "warning";
  case plan_check::verdict::bad: return "bad";
  }
  return {};
}

bool transition_plan::possible() const {
  return std::none_of(checks.begin(), checks.end(),
                      [](const plan_check& check) { return check.verdict == verdict::bad; });
}

transition_plan make_plan(const config::settings& settings, const transition_request& request,
                          const plan_facts& facts, const plan_context& context) {
  const auto& transitions = settings.transitions;
  const elapsed queue_budget = request.queue_budget.value_or(transitions.queue_budget);
  transition_plan plan;
  plan.guards = texts_of(transitions.guards, request.to);
  plan.steps = texts_of(transitions.steps, request.to);
  if (const gate_lock* oldest = oldest_holder(facts.pins)) plan.oldest = *oldest;
  for (const gate_lock& lock : facts.pins.holders) {
    if (lock.is_idle()) ++plan.idle_holders;
    if (!lock.pid) ++plan.prepared_holders;
    plan.predicted_queue_wait = std::max(plan.predicted_queue_wait, lock.age().value_or(elapsed(0)));
  }
  plan.predicted_queue_wait = std::min(plan.predicted_queue_wait, queue_budget);
  plan.predicted_hold = context.last_hold;
  plan.longest_pause = queue_budget + transitions.hold_budget;

  plan.checks.push_back(check_server(facts, context));
  plan.checks.push_back(check_mode(request, facts.row));
  compare(plan.checks, request, facts.row);
  plan.checks.push_back(check_slot(facts));
  if (settings.gate.applier_lock_key) plan.checks.push_back(check_applier(facts));
  plan.checks.push_back(check_pins(plan, facts, queue_budget));
  plan.checks.push_back(check_idle(plan, transitions));
  plan.checks.push_back(check_prepared(plan.prepared_holders));
  plan.checks.push_back(facts.missing_standby
                            ? plan_check{"standby", verdict::bad, *facts.missing_standby}
                            : plan_check{"standby", verdict::good, "a commit waits for no missing standby"});
  plan.checks.push_back(
      context.deadlock_timeout_shortened
          ? plan_check{"deadlock", verdict::good, "a deadlock takes the transition, never a writer"}
          : plan_check{"deadlock", verdict::warning,
                       "the control role may not set deadlock_timeout: a deadlock may take a writer"});
  plan.checks.push_back(check_fleet(facts, context.own_version));
  const auto past = past_the_sidecars(facts.clients, facts.sidecars, context.own);
  plan.past_the_sidecars = past.size();
  plan.checks.push_back(check_bypass(past));
  return plan;
}

transition_record planned_record(const config::settings& settings, const transition_request& request,
                                 const plan_facts& facts, wall_time now) {
  record_book book(settings.transitions, {}, request, {}, now);
  book.observe(facts.pins, 0);
  transition_record record = book.record();
  record.from = facts.row.mode;
  record.version_before = facts.row.version;
  record.message = "a plan: nothing was started";
  return record;
}

} // namespace ledgergate::transition
