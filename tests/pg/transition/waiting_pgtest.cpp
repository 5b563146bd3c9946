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
  pinned_client straggler;
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  // One that comes behind it waits, but no longer than the budget.
  pg_client behind;
  behind.send(pin_key);
  turn_until("the pin behind the transition to wait", [&] { return record(id).pins_waiting == 1; });
  expect_granted(behind);
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
  pinned_client straggler;
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
  pinned_client straggler;
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
  pinned_client straggler;
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
  expect_granted(writer); // it must never be the victim
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
    expect_granted(writer); // it must never be the victim
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
  pinned_client straggler;
  pg_client one, two;
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  one.send(pin_key);
  two.send(pin_key);
  expect_granted(one);
  expect_granted(two);
  turn_until("the attempt to be over",
             [&] { return record(id).attempts[0].outcome == attempt_outcome::harm; });
  straggler.run("COMMIT");
  EXPECT_EQ(ended(id).state, transition_state::committed);
}

TEST_F(Waiting, IsCancelledAtOnceAndWritersGoOn) {
  settings->transitions.queue_budget = 20s;
  connect();
  pinned_client straggler;
  pg_client behind;
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  behind.send(pin_key);
  EXPECT_EQ(service->cancel("no such id", "me"), cancel_result::not_found);
  EXPECT_EQ(service->cancel(id, "me"), cancel_result::asked);
  expect_granted(behind);
  const auto done = ended(id);
  EXPECT_EQ(done.reason, abort_reason::cancelled);
  EXPECT_EQ(done.message, "an operator cancelled it (me)");
  EXPECT_EQ(service->cancel(id, "me"), cancel_result::already_ended);
  EXPECT_EQ(mode(), "shadow");
}

TEST_F(Waiting, IsNotBegunWhileNoSynchronousStandbyCouldConfirm) {
  connect();
  ask_for_standby("nobody");
  const auto id = begin(to("ledger"));
  turn_until("the reason", [&] { return record(id).message.find("standby") != std::string::npos; });
  EXPECT_EQ(record(id).state, transition_state::waiting_quiet);
  EXPECT_TRUE(record(id).attempts.empty());
  ask_for_standby("");
  EXPECT_EQ(ended(id).state, transition_state::committed);
}

TEST_F(Waiting, IsAbortedWhenTheSidecarShutsDown) {
  settings->transitions.queue_budget = 20s;
  connect();
  pinned_client straggler;
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
