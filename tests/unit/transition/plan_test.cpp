// The plan: what it says about each thing that could be in a transition's way.
#include "proxy/transition/plan.hpp"

#include <algorithm>

#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

using verdict = enum plan_check::verdict;

/// All is well: shadow, nobody holds the gate.
plan_facts quiet() {
  plan_facts facts;
  facts.row.row_count = 1;
  facts.row.mode = "shadow";
  facts.row.version = "700";
  return facts;
}

plan_context sound() {
  plan_context context;
  context.deadlock_timeout_shortened = true;
  context.own_version = "1.0";
  return context;
}

transition_plan plan_for(const plan_facts& facts, transition_request request = to_ledger(),
                         const plan_context& context = sound()) {
  return make_plan(*script_settings(), request, facts, context);
}

plan_check check(const transition_plan& plan, std::string_view name) {
  const auto found = std::find_if(plan.checks.begin(), plan.checks.end(),
                                  [&](const plan_check& each) { return each.name == name; });
  if (found == plan.checks.end()) {
    ADD_FAILURE() << "no check is called " << name;
    return {};
  }
  return *found;
}

gate_lock held_for(std::chrono::milliseconds age, const char* state = "active") {
  gate_lock lock;
  lock.pid = 77;
  lock.application = "worker";
  lock.state = state;
  lock.transaction_age = age;
  return lock;
}

TEST(Plan, IsGreenAllOverWhenNothingIsInTheWay) {
  const auto plan = plan_for(quiet());
  EXPECT_TRUE(plan.possible());
  for (const auto& each : plan.checks)
    EXPECT_EQ(each.verdict, verdict::good) << each.name << ": " << each.message;
  EXPECT_EQ(plan.predicted_queue_wait, 0us);
  EXPECT_EQ(plan.longest_pause, 5500ms);
  EXPECT_FALSE(plan.predicted_hold);
}

TEST(Plan, IsNotPossibleWhenSomethingWouldRefuseIt) {
  struct {
    const char* check;
    std::function<void(plan_facts&, transition_request&, plan_context&)> spoil;
  } cases[] = {
      {"mode", [](auto& facts, auto&, auto&) { facts.row.row_count = 0; }},
      {"mode", [](auto& facts, auto&, auto&) { facts.row.row_count = 2; }},
      {"from", [](auto&, auto& request, auto&) { request.from = "ledger"; }},
      {"version", [](auto&, auto& request, auto&) { request.expect_version = "699"; }},
      {"slot", [](auto& facts, auto&, auto&) { facts.rival = "ledgergate/1.0@other"; }},
      {"standby", [](auto& facts, auto&, auto&) { facts.missing_standby = "the commit would hang"; }},
      {"server", [](auto& facts, auto&, auto&) { facts.in_recovery = true; }},
      {"privileges", [](auto& facts, auto&, auto&) { facts.may_update = false; }},
      {"sidecar", [](auto&, auto&, auto& context) { context.control_connected = false; }},
      {"sidecar", [](auto&, auto&, auto& context) { context.draining = true; }},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.check);
    auto facts = quiet();
    auto request = to_ledger();
    auto context = sound();
    each.spoil(facts, request, context);
    const auto plan = plan_for(facts, request, context);
    EXPECT_FALSE(plan.possible());
    EXPECT_EQ(check(plan, each.check).verdict, verdict::bad);
  }
}

TEST(Plan, WarnsOfWhatWouldMakeItLong) {
  auto facts = quiet();
  facts.applier = applier_holder{55, "projector", 1200ms};
  gate_lock prepared;
  prepared.prepared_gid = "left behind";
  facts.pins.holders = {held_for(3s, "idle in transaction"), prepared};
  const auto plan = plan_for(facts);
  EXPECT_TRUE(plan.possible());
  EXPECT_EQ(check(plan, "applier").message,
            "the applier lock is held by pid 55 (projector) for 1200 ms; a transition waits for it first");
  for (const char* name : {"applier", "pins", "idle", "prepared"})
    EXPECT_EQ(check(plan, name).verdict, verdict::warning) << name;
  EXPECT_NE(check(plan, "pins").message.find("pid 77 (worker), idle in transaction, for 3000 ms, and 1 more"),
            std::string::npos);
  EXPECT_EQ(plan.prepared_holders, 1u);
  EXPECT_EQ(plan.idle_holders, 1u);
  ASSERT_TRUE(plan.oldest);
  EXPECT_EQ(plan.oldest->pid, 77);
}

TEST(Plan, PredictsThePauseByTheAgesOfThePins) {
  auto facts = quiet();
  facts.pins.holders = {held_for(30ms), held_for(80ms)};
  auto context = sound();
  context.last_hold = 12ms;
  const auto plan = plan_for(facts, to_ledger(), context);
  EXPECT_EQ(plan.predicted_queue_wait, 80ms);
  EXPECT_EQ(plan.predicted_hold, elapsed(12ms));
  facts.pins.holders = {held_for(1h)};
  EXPECT_EQ(plan_for(facts).predicted_queue_wait, 500ms) << "never longer than the budget allows";
}

TEST(Plan, WarnsOfSidecarsOfAnotherVersion) {
  auto facts = quiet();
  facts.sidecars = {{1, "ledgergate/1.0@a", "1.0", "a", "10.0.0.1", std::nullopt},
                    {2, "ledgergate/1.0@a", "1.0", "a", "10.0.0.1", std::nullopt}};
  EXPECT_EQ(check(plan_for(facts), "fleet").message, "1 sidecar is connected, of one version");
  facts.sidecars.push_back({3, "ledgergate/0.9@b", "0.9", "b", "10.0.0.2", std::nullopt});
  EXPECT_EQ(check(plan_for(facts), "fleet").verdict, verdict::warning);
  EXPECT_EQ(check(plan_for(facts), "fleet").message,
            "sidecars of another version than 1.0: ledgergate/0.9@b");
}

TEST(Plan, WarnsOfSessionsPastTheSidecars) {
  auto facts = quiet();
  facts.sidecars = {{1, "ledgergate/1.0@a", "1.0", "a", "10.0.0.1", std::nullopt},
                    {2, "ledgergate/1.0@b", "1.0", "b", "10.0.0.2", std::nullopt}};
  facts.clients = {{100, "app", "worker", "10.0.0.1"}, // one of ours
                   {101, "app", "worker", "10.0.0.2"}, // from the address of the other sidecar
                   {102, "app", "psql", "10.0.0.1"},   // beside us
                   {103, "root", "", std::nullopt}};   // on the server itself
  auto context = sound();
  context.own.clients = {100};
  context.own.control = {1};
  const auto plan = plan_for(facts, to_ledger(), context);
  EXPECT_EQ(plan.past_the_sidecars, 2u);
  const auto found = check(plan, "bypass");
  EXPECT_EQ(found.verdict, verdict::warning);
  EXPECT_NE(found.message.find("pid 102 (app, psql), pid 103 (root)"), std::string::npos) << found.message;
  EXPECT_TRUE(plan.possible());
}

TEST(Plan, TakesTheFormOfTheResourceItWouldBecome) {
  auto facts = quiet();
  facts.pins.holders = {held_for(30ms)};
  auto request = to_ledger();
  request.queue_budget = 200ms;
  const auto record = planned_record(*script_settings(), request, facts, wall_time(1h));
  EXPECT_EQ(record.state, transition_state::planned);
  EXPECT_EQ(record.from, "shadow");
  EXPECT_EQ(record.version_before, "700");
  EXPECT_EQ(record.queue_budget, 200ms);
  ASSERT_EQ(record.blockers.size(), 1u);
  EXPECT_EQ(record.timings.total, 0us);
}

TEST(Fleet, KnowsItsSidecarsByTheirNames) {
  const auto seen =
      sidecars_of(read_control_sessions(rows({{"1", "ledgergate/1.0@b", "10.0.0.2", "200"},
                                              {"2", "ledgergate/1.0@b", "10.0.0.2", "100"},
                                              {"3", "ledgergate/0.9.1@a", std::nullopt, "50.25"},
                                              {"4", "ledgergate", std::nullopt, "50"},
                                              {"5", "psql", std::nullopt, "50"}})));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].version, "0.9.1");
  EXPECT_EQ(seen[0].host, "a");
  EXPECT_FALSE(seen[0].address);
  EXPECT_EQ(seen[1].since, wall_time(100s));
}

} // namespace
} // namespace ledgergate::transition
