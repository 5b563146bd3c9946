// A transition that waits: stragglers, deadlines, deadlocks, too many waiting pins, cancels. Writers must go
// on.
#include "tests/pg/transition/control_fixture.hpp"

namespace ledgergate::control {
namespace {

class Waiting : public control_test {};

std::string granted(pg_client& client, const std::string& sql) {
  client.run("SET lock_timeout = '10s'");
  return client.sqlstate(sql);
}

TEST_F(Waiting, LeavesTheQueueForAStragglerAndSucceedsWhenItIsGone) {
  settings->transitions.queue_budget = 1500ms;
  connect();
  pg_client straggler;
  straggler.run("BEGIN");
  straggler.run(pin_key);
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  // One that comes behind it waits, but no longer than the budget.
  pg_client behind;
  behind.send(pin_key);
  turn_until("the pin behind the transition to wait", [&] { return record(id).pins_waiting == 1; });
  turn_until("the pin behind the transition", [&] { return behind.answered(); });
  EXPECT_EQ(behind.answer(), "");
  wait_for(id, transition_state::waiting_quiet);
  turn_until("the blocker to be named", [&] { return record(id).blockers.size() == 1; });
  EXPECT_EQ(std::to_string(record(id).blockers[0].pid.value_or(0)), straggler.pid());
  EXPECT_EQ(record(id).blockers[0].state, "idle in transaction");
  EXPECT_EQ(record(id).blockers[0].application, "writer");
  straggler.run("COMMIT");
  const auto done = ended(id);
  EXPECT_EQ(done.state, transition_state::committed);
  ASSERT_EQ(done.attempts.size(), 2u);
  EXPECT_EQ(done.attempts[0].outcome, attempt_outcome::lock_timeout);
  EXPECT_EQ(done.attempts[0].pins_waiting_max, 1u);
  EXPECT_EQ(done.attempts[1].outcome, attempt_outcome::granted);
  EXPECT_GT(done.timings.max_writer_wait, 0us);
  EXPECT_GT(done.timings.quiet_wait, 0us);
}

TEST_F(Waiting, DoesNotQueueBehindAPinThatIsOlderThanTheBudget) {
  settings->transitions.queue_budget = 50ms;
  connect();
  pg_client straggler;
  straggler.run("BEGIN");
  straggler.run(pin_key);
  turn_until("the pin to be old", [&] { return service->status().oldest_pin_age.value_or(0us) > 50ms; });
  const auto id = begin(to("ledger"));
  wait_for(id, transition_state::waiting_quiet);
  turn_until("a look",
             [&] { return record(id).message.find("waits without queueing") != std::string::npos; });
  EXPECT_TRUE(record(id).attempts.empty());
  pg_client writer;
  EXPECT_EQ(granted(writer, pin_key), "");
  straggler.run("COMMIT");
  EXPECT_EQ(ended(id).state, transition_state::committed);
}

TEST_F(Waiting, EndsAtTheDeadlineAndNamesWhoHeldTheGate) {
  connect();
  pg_client straggler;
  straggler.run("BEGIN");
  straggler.run(pin_key);
  auto request = to("ledger");
  request.deadline = 1200ms;
  request.queue_budget = 100ms;
  const auto done = run(request);
  EXPECT_EQ(done.state, transition_state::aborted);
  EXPECT_EQ(done.reason, abort_reason::deadline);
  EXPECT_GE(done.attempts.size(), 1u) << "when time runs short it tries anyway";
  EXPECT_NE(done.message.find("pid " + straggler.pid()), std::string::npos) << done.message;
  EXPECT_EQ(mode(), "shadow");
  expect_writers_are_free();
}

TEST_F(Waiting, NamesAPreparedTransactionThatHoldsTheGate) {
  connect();
  pg_client straggler;
  straggler.run("BEGIN");
  straggler.run(pin_key);
  straggler.run("PREPARE TRANSACTION 'settle-17'");
  auto request = to("ledger");
  request.deadline = 500ms;
  request.queue_budget = 100ms;
  const auto done = run(request);
  EXPECT_NE(done.message.find("prepared transaction settle-17"), std::string::npos) << done.message;
  straggler.run("ROLLBACK PREPARED 'settle-17'");
}

TEST_F(Waiting, IsBoundedForTheApplierLockAndHarmsNobodyMeanwhile) {
  settings->transitions.applier_timeout = 400ms;
  connect();
  pg_client projector;
  projector.run("BEGIN");
  projector.run(applier_key);
  const auto id = begin(to("ledger"));
  wait_for(id, transition_state::waiting_applier);
  pg_client writer;
  EXPECT_EQ(granted(writer, pin_key), "");
  const auto done = ended(id);
  EXPECT_EQ(done.reason, abort_reason::deadline);
  EXPECT_NE(done.message.find("applier"), std::string::npos);
  EXPECT_TRUE(done.attempts.empty());
}

TEST_F(Waiting, GivesWayToAPinThatThenWantsTheApplierLock) {
  // F8. The circle closes only after the transition looked for deadlocks; the writer would look after a
  // second.
  settings->transitions.queue_budget = 20s;
  connect();
  ASSERT_TRUE(service->status().deadlock_takes_transition);
  pg_client writer;
  writer.run("BEGIN");
  writer.run(pin_key);
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  writer.send(applier_key);
  turn_until("the writer's lock", [&] { return writer.answered(); });
  EXPECT_EQ(writer.answer(), "") << "the writer must never be the victim";
  writer.run("COMMIT");
  const auto done = ended(id);
  EXPECT_EQ(done.state, transition_state::committed);
  EXPECT_EQ(done.attempts[0].outcome, attempt_outcome::deadlock);
}

/// F31: the writer holds a row that the step needs, and then wants its pin. `close_circle_when` is asked
/// until it is time.
class LockedRow : public Waiting {
 protected:
  void run_with(const std::string& close_circle_when) {
    settings->transitions.steps["ledger"] = {"UPDATE users SET kudos = kudos + 1 WHERE id = 7"};
    connect();
    pg_client writer;
    writer.run("BEGIN");
    writer.run("UPDATE users SET kudos = 1 WHERE id = 7");
    const auto id = begin(to("ledger"));
    turn_until("the moment to close the circle",
               [&] { return administrator.value(close_circle_when) == "t"; });
    writer.send(pin_key);
    turn_until("the writer's pin", [&] { return writer.answered(); });
    EXPECT_EQ(writer.answer(), "") << "the writer must never be the victim";
    writer.run("COMMIT");
    const auto done = ended(id);
    EXPECT_EQ(done.state, transition_state::committed) << done.message;
    EXPECT_GE(done.attempts.size(), 2u);
    EXPECT_EQ(administrator.value("SELECT kudos FROM users WHERE id = 7"), "2.00");
  }
};

TEST_F(LockedRow, IsLeftToAWriterThatClosesTheCircleAtOnce) {
  run_with("SELECT EXISTS (SELECT FROM pg_locks WHERE mode = 'ExclusiveLock' AND objid = 1263879245 AND "
           "objsubid = 1 AND granted)");
}

TEST_F(LockedRow, IsLeftToAWriterThatClosesTheCircleAfterTheTransitionLookedForDeadlocks) {
  run_with(
      "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND clock_timestamp() - waitstart > '150ms')");
}

TEST_F(Waiting, CallsAnAttemptOffWhenTooManyPinsPileUp) {
  settings->transitions.queue_budget = 20s;
  settings->transitions.max_waiting_pins = 2;
  connect();
  pg_client straggler, one, two;
  straggler.run("BEGIN");
  straggler.run(pin_key);
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  one.send(pin_key);
  two.send(pin_key);
  turn_until("both pins", [&] { return one.answered() && two.answered(); });
  EXPECT_EQ(one.answer() + two.answer(), "");
  turn_until("the attempt to be over",
             [&] { return record(id).attempts[0].outcome == attempt_outcome::harm; });
  straggler.run("COMMIT");
  EXPECT_EQ(ended(id).state, transition_state::committed);
}

TEST_F(Waiting, IsCancelledAtOnceAndWritersGoOn) {
  settings->transitions.queue_budget = 20s;
  connect();
  pg_client straggler, behind;
  straggler.run("BEGIN");
  straggler.run(pin_key);
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  behind.send(pin_key);
  EXPECT_EQ(service->cancel("no such id", "me"), cancel_result::not_found);
  EXPECT_EQ(service->cancel(id, "me"), cancel_result::asked);
  turn_until("the pin behind it", [&] { return behind.answered(); });
  EXPECT_EQ(behind.answer(), "");
  const auto done = ended(id);
  EXPECT_EQ(done.reason, abort_reason::cancelled);
  EXPECT_EQ(done.message, "an operator cancelled it (me)");
  EXPECT_EQ(service->cancel(id, "me"), cancel_result::already_ended);
  EXPECT_EQ(mode(), "shadow");
}

TEST_F(Waiting, IsNotBegunWhileNoSynchronousStandbyCouldConfirm) {
  connect();
  administrator.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  administrator.run("SELECT pg_reload_conf()");
  turn_until("the setting", [&] {
    return administrator.value("SELECT current_setting('synchronous_standby_names')") == "nobody";
  });
  const auto id = begin(to("ledger"));
  turn_until("the reason", [&] { return record(id).message.find("standby") != std::string::npos; });
  EXPECT_EQ(record(id).state, transition_state::waiting_quiet);
  EXPECT_TRUE(record(id).attempts.empty());
  administrator.run("ALTER SYSTEM RESET synchronous_standby_names");
  administrator.run("SELECT pg_reload_conf()");
  EXPECT_EQ(ended(id).state, transition_state::committed);
}

TEST_F(Waiting, IsAbortedWhenTheSidecarShutsDown) {
  settings->transitions.queue_budget = 20s;
  connect();
  pg_client straggler;
  straggler.run("BEGIN");
  straggler.run(pin_key);
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  bool stopped = false;
  service->stop([&] { stopped = true; });
  turn_until("the end of the service", [&] { return stopped; });
  EXPECT_EQ(record(id).reason, abort_reason::cancelled);
  expect_writers_are_free();
}

TEST_F(Waiting, FinishesWhatHoldsTheGateWhenTheSidecarShutsDown) {
  settings->transitions.steps["ledger"] = {"select pg_sleep(0.3)"};
  connect();
  const auto id = begin(to("ledger"));
  wait_for(id, transition_state::holding);
  bool stopped = false;
  service->stop([&] { stopped = true; });
  turn_until("the end of the service", [&] { return stopped; });
  EXPECT_EQ(record(id).state, transition_state::committed);
  EXPECT_EQ(mode(), "ledger");
}

} // namespace
} // namespace ledgergate::control
