// The dry run, the rehearsal, a request that is repeated, and the eviction of idle holders.
#include <algorithm>

#include "tests/pg/transition/control_fixture.hpp"

namespace ledgergate::control {
namespace {

using verdict = enum transition::plan_check::verdict;

class Plan : public control_test {
 protected:
  plan_answer plan(transition_request request, transition::plan_context context = {}) {
    std::optional<plan_answer> answer;
    service->plan(std::move(request), std::move(context),
                  [&](plan_answer given) { answer = std::move(given); });
    turn_until("the plan", [&] { return answer.has_value(); });
    return answer.value_or(plan_answer{});
  }

  static verdict verdict_on(const plan_answer& answer, std::string_view name) {
    for (const auto& check : answer.plan->checks) {
      if (check.name == name) return check.verdict;
    }
    ADD_FAILURE() << "no check is called " << name;
    return verdict::bad;
  }
};

TEST_F(Plan, SeesWhatATransitionWouldFindAndTakesNothing) {
  settings->transitions.steps["ledger"] = {"select 1"};
  connect();
  pg_client holder, applier("app", "projector");
  holder.run("BEGIN");
  holder.run(pin_key);
  applier.run("BEGIN");
  applier.run(applier_key);
  const auto answer = plan(to("ledger"));
  ASSERT_TRUE(answer.plan) << answer.error;
  EXPECT_TRUE(answer.plan->possible());
  EXPECT_EQ(answer.record->from, "shadow");
  EXPECT_EQ(answer.record->state, transition_state::planned);
  ASSERT_EQ(answer.record->blockers.size(), 1u);
  EXPECT_EQ(answer.plan->oldest->pid, std::stoi(holder.pid()));
  EXPECT_EQ(answer.plan->steps, 1u);
  EXPECT_EQ(verdict_on(answer, "applier"), verdict::warning);
  EXPECT_EQ(verdict_on(answer, "idle"), verdict::warning);
  EXPECT_EQ(verdict_on(answer, "deadlock"), verdict::good);
  EXPECT_EQ(administrator.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "2");
  EXPECT_TRUE(service->list().empty());
  EXPECT_FALSE(service->current());
}

TEST_F(Plan, SaysWhatWouldRefuseIt) {
  connect();
  auto request = to("ledger");
  request.from = "ledger";
  request.expect_version = "1";
  administrator.run("REVOKE UPDATE ON kudos_ledger_control FROM app");
  const auto answer = plan(request);
  administrator.run("GRANT UPDATE ON kudos_ledger_control TO app");
  EXPECT_FALSE(answer.plan->possible());
  for (const char* name : {"from", "version", "privileges"})
    EXPECT_EQ(verdict_on(answer, name), verdict::bad) << name;
  EXPECT_TRUE(plan(to("no such mode")).unknown_mode);
}

TEST_F(Plan, NamesTheTransitionThatRunsAndTheSessionsPastTheSidecars) {
  settings->transitions.queue_budget = 20s;
  connect();
  pg_client straggler;
  straggler.run("BEGIN");
  straggler.run(pin_key);
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  transition::plan_context context;
  context.own.clients = {std::stoi(straggler.pid())};
  const auto answer = plan(to("ledger"), context);
  EXPECT_EQ(verdict_on(answer, "slot"), verdict::bad);
  EXPECT_EQ(verdict_on(answer, "bypass"), verdict::warning);
  EXPECT_EQ(answer.plan->past_the_sidecars, 1u) << "the administrator, and not our own client";
  EXPECT_EQ(service->cancel(id, ""), cancel_result::asked);
  ended(id);
}

TEST_F(Plan, KnowsHowLongTheLastHoldTook) {
  settings->transitions.steps["ledger"] = {"select pg_sleep(0.05)"};
  connect();
  EXPECT_FALSE(plan(to("ledger")).plan->predicted_hold);
  auto request = to("ledger");
  request.rehearse = true;
  run(request);
  EXPECT_GE(plan(to("ledger")).plan->predicted_hold.value(), 50ms);
}

TEST_F(Plan, ShowsTheSidecarsOfTheFleet) {
  connect();
  turn_until("the fleet to be read", [&] { return service->status().sidecars.size() == 1; });
  const auto seen = service->status().sidecars[0];
  EXPECT_TRUE(seen.name.starts_with("ledgergate/")) << seen.name;
  EXPECT_FALSE(seen.version.empty());
  EXPECT_FALSE(seen.host.empty());
  EXPECT_TRUE(seen.since);
}

TEST_F(Plan, ARehearsalRollsEverythingBack) {
  settings->transitions.guards["ledger"] = {"select true"};
  settings->transitions.steps["ledger"] = {"update users set kudos = 99"};
  settings->transitions.notify = "ledger_mode";
  connect();
  pg_client listener("app", "listener");
  listener.run("LISTEN ledger_mode");
  const auto version = service->status().version;
  auto request = to("ledger");
  request.rehearse = true;
  const auto done = run(request);
  EXPECT_EQ(done.state, transition_state::aborted);
  EXPECT_TRUE(done.rehearsed) << done.message;
  EXPECT_FALSE(done.reason);
  EXPECT_EQ(done.attempts.size(), 1u);
  EXPECT_EQ(mode(), "shadow");
  EXPECT_EQ(administrator.value("SELECT max(kudos) FROM users"), "0.00");
  expect_writers_are_free();
  listener.run("SELECT 1");
  EXPECT_FALSE(listener.notification());
  EXPECT_EQ(run(to("ledger")).version_before, version) << "the row was not touched";
}

TEST_F(Plan, ARepeatedRequestStartsNothingAnew) {
  settings->transitions.queue_budget = 20s;
  connect();
  pg_client straggler;
  straggler.run("BEGIN");
  straggler.run(pin_key);
  auto request = to("ledger");
  request.request_id = "deploy-1";
  const auto id = begin(request);
  const auto again = start(request);
  EXPECT_EQ(again.kind, start_answer::kind::repeated);
  EXPECT_EQ(again.record->id, id);
  straggler.run("COMMIT");
  EXPECT_EQ(ended(id).state, transition_state::committed);
  const auto after = start(request);
  EXPECT_EQ(after.kind, start_answer::kind::repeated);
  EXPECT_EQ(after.record->id, id);
  EXPECT_TRUE(after.record->changed);
  request.to = "shadow";
  const auto other = start(request);
  EXPECT_EQ(other.kind, start_answer::kind::request_id_reused);
  EXPECT_EQ(other.conflict_id, id);
  EXPECT_EQ(mode(), "ledger");
}

class Eviction : public control_test {
 protected:
  Eviction() {
    settings->transitions.evict_idle_after = 1s;
    administrator.run("GRANT pg_signal_backend TO gate_operator");
  }
  ~Eviction() override {
    administrator.run("REVOKE pg_signal_backend FROM gate_operator");
    administrator.run("GRANT app TO gate_operator");
  }

  bool lives(const pg_client& client) {
    return administrator.value("SELECT count(*) FROM pg_stat_activity WHERE pid = " + client.pid()) == "1";
  }
};

TEST_F(Eviction, EndsAHolderThatIsIdleAndNobodyElse) {
  connect();
  pg_client idle("app", "forgotten"), busy("app", "busy"), bystander("app", "bystander");
  bystander.run("BEGIN");
  idle.run("BEGIN");
  idle.run(pin_key);
  busy.send(std::string(pin_key) + "; SELECT pg_sleep(3)");
  const auto done = run(to("ledger"));
  EXPECT_EQ(done.state, transition_state::committed) << done.message;
  ASSERT_EQ(done.evictions.size(), 1u);
  EXPECT_EQ(done.evictions[0].holder.pid, std::stoi(idle.pid()));
  EXPECT_EQ(done.evictions[0].outcome, "ended");
  EXPECT_FALSE(lives(idle));
  EXPECT_TRUE(lives(bystander)) << "idle, but it does not hold the gate";
  EXPECT_TRUE(lives(busy));
  EXPECT_EQ(busy.answer(), "");
}

TEST_F(Eviction, ThatIsNotAllowedIsShownAndHarmsNobody) {
  administrator.run("REVOKE pg_signal_backend FROM gate_operator");
  settings->transitions.deadline = 4s;
  connect();
  administrator.run("REVOKE app FROM gate_operator");
  administrator.run("GRANT SELECT, UPDATE ON kudos_ledger_control TO gate_operator");
  pg_client idle("app", "forgotten");
  idle.run("BEGIN");
  idle.run(pin_key);
  const auto done = run(to("ledger"));
  EXPECT_EQ(done.state, transition_state::aborted);
  ASSERT_EQ(done.evictions.size(), 1u);
  administrator.run("GRANT app TO gate_operator");
  EXPECT_NE(done.evictions[0].outcome.find("42501"), std::string::npos) << done.evictions[0].outcome;
  EXPECT_TRUE(lives(idle));
}

} // namespace
} // namespace ledgergate::control
