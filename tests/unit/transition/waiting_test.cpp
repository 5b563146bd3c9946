// The way to the gate: applier lock, looking before queueing, the queue budget, back-off, harm, deadlocks.
#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

/// Until the text that looks at the pins is waiting for its answer.
void go_to_look(engine_script& script) {
  script.connect();
  script.answer("pg_try_advisory_lock", slot());
  script.answer("BEGIN", control());
  script.answer("pg_advisory_xact_lock(1263879247", done());
}

/// From the back-off to the queue again.
void go_round(engine_script& script) {
  script.fire();
  script.answer("BEGIN", control());
  script.answer("pg_advisory_xact_lock(1263879247", done());
  if (script.waiting_text()->find("pg_stat_replication") != std::string::npos) {
    script.answer("pg_stat_replication", pins());
  }
}

TEST(WaitingForTheGate, TakesTheApplierLockBeforeTheGate) {
  engine_script script;
  script.connect();
  script.answer("pg_try_advisory_lock", slot());
  script.answer("BEGIN", control());
  EXPECT_EQ(script.state(), transition_state::waiting_applier);
  EXPECT_NE(script.waiting_text()->find("SET LOCAL lock_timeout = 10000;"), std::string::npos);
  script.answer("pg_advisory_xact_lock(1263879247", done());
  script.answer("pg_stat_replication", pins());
  EXPECT_EQ(script.state(), transition_state::queued);
  EXPECT_NE(script.waiting_text()->find("pg_advisory_xact_lock(1263879245"), std::string::npos);
}

TEST(WaitingForTheGate, NeedsNoApplierLockWhenNoneIsConfigured) {
  auto settings = script_settings();
  settings->gate.applier_lock_key.reset();
  engine_script script(to_ledger(), settings);
  script.connect();
  script.answer("pg_try_advisory_lock", slot());
  script.answer("BEGIN", control());
  script.answer("pg_stat_replication", pins());
  script.answer("pg_advisory_xact_lock(1263879245", done());
  EXPECT_EQ(script.state(), transition_state::holding);
}

TEST(WaitingForTheGate, IsAbortedWhenTheApplierLockIsNotGrantedInTime) {
  engine_script script;
  script.connect();
  script.answer("pg_try_advisory_lock", slot());
  script.answer("BEGIN", control());
  script.pass(10s);
  script.answer("pg_advisory_xact_lock(1263879247", failed("55P03"));
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.state(), transition_state::aborted);
  EXPECT_EQ(script.record().reason, abort_reason::deadline);
  EXPECT_EQ(script.record().timings.applier_wait, 10s);
  EXPECT_TRUE(script.record().attempts.empty());
}

TEST(WaitingForTheGate, WaitsWithoutQueueingForAPinOlderThanTheBudget) {
  engine_script script;
  go_to_look(script);
  for (int look = 0; look < 3; ++look) {
    script.answer("pg_stat_replication", pins({pin("77", "3.5")}));
    EXPECT_EQ(script.state(), transition_state::waiting_quiet);
    EXPECT_FALSE(script.waiting_text());
    ASSERT_EQ(script.record().blockers.size(), 1u);
    EXPECT_EQ(script.record().blockers[0].pid, 77);
    EXPECT_GE(script.fire(), 500ms);
  }
  script.answer("pg_stat_replication", pins({pin("78", "0.01")}));
  EXPECT_EQ(script.state(), transition_state::queued);
  EXPECT_EQ(script.record().timings.quiet_wait, 1500ms);
}

TEST(WaitingForTheGate, TriesAnywayWhenTimeRunsShort) {
  engine_script script;
  go_to_look(script);
  while (script.state() != transition_state::queued) {
    ASSERT_LT(script.elapsed_time(), 30s);
    script.answer("pg_stat_replication", pins({pin("77", "100")}));
    if (script.state() == transition_state::waiting_quiet) script.fire();
  }
  // A budget of 500 ms and a hold of at most 5 s must still fit before the deadline of 30 s.
  EXPECT_LE(script.elapsed_time(), 30s - 5s);
  EXPECT_GE(script.elapsed_time(), 20s);
}

TEST(WaitingForTheGate, WakesUpWhenTimeRunsShortBetweenTwoLooks) {
  auto request = to_ledger();
  request.deadline = 1200ms;
  request.queue_budget = 100ms;
  engine_script script(request);
  script.pass(240ms);
  go_to_look(script);
  script.answer("pg_stat_replication", pins({pin("77", "100")}));
  script.fire();
  script.answer("pg_stat_replication", pins({pin("77", "100")}));
  // The third look would be due at 1240 ms, after the deadline; 100 ms to queue and 300 ms to hold must be
  // left.
  script.fire();
  EXPECT_EQ(script.elapsed_time(), 800ms);
  EXPECT_EQ(script.state(), transition_state::queued);
}

TEST(WaitingForTheGate, DoesNotTakeItsOwnBackendForABlocker) {
  engine_script script;
  go_to_look(script);
  script.answer("pg_stat_replication", pins({pin("4711", "100")}));
  EXPECT_EQ(script.state(), transition_state::queued);
  EXPECT_TRUE(script.record().blockers.empty());
}

TEST(WaitingForTheGate, LetsGoOfTheApplierLockWhenAPinWaitsForIt) {
  engine_script script;
  go_to_look(script);
  script.answer("pg_stat_replication", pins({pin("77", "0.1", true)}));
  script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
  EXPECT_EQ(script.state(), transition_state::waiting_quiet);
  go_round(script);
  EXPECT_EQ(script.state(), transition_state::queued);
}

TEST(WaitingForTheGate, DoesNotQueueWhileNoSynchronousStandbyCouldConfirm) {
  engine_script script;
  go_to_look(script);
  script.answer("pg_stat_replication", pins({}, "ANY 1 (a, b)", "0"));
  EXPECT_EQ(script.state(), transition_state::waiting_quiet);
  EXPECT_NE(script.record().message.find("synchronous_standby_names"), std::string::npos);
  script.fire();
  script.answer("pg_stat_replication", pins({}, "ANY 1 (a, b)", "1"));
  EXPECT_EQ(script.state(), transition_state::queued);
}

TEST(WaitingForTheGate, IsAbortedUntriedWhenNoStandbyComes) {
  engine_script script;
  go_to_look(script);
  while (!script.finished()) {
    ASSERT_LT(script.elapsed_time(), 31s);
    script.answer("pg_stat_replication", pins({}, "a", "0"));
    if (script.waiting_text()) {
      script.answer("ROLLBACK", slot());
    } else if (!script.finished()) {
      script.fire();
    }
  }
  EXPECT_EQ(script.record().reason, abort_reason::harm);
  EXPECT_TRUE(script.record().attempts.empty());
}

TEST(WaitingForTheGate, LeavesTheQueueWhenTheBudgetIsUsedUpAndTriesAgain) {
  engine_script script;
  script.go_to_queue();
  EXPECT_NE(script.waiting_text()->find("SET LOCAL lock_timeout = 500;"), std::string::npos);
  script.pass(500ms);
  script.answer("pg_advisory_xact_lock(1263879245", failed("55P03"));
  EXPECT_EQ(script.state(), transition_state::waiting_quiet);
  script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
  go_round(script);
  EXPECT_EQ(script.state(), transition_state::queued);
  ASSERT_EQ(script.record().attempts.size(), 2u);
  EXPECT_EQ(script.record().attempts[0].outcome, attempt_outcome::lock_timeout);
  EXPECT_EQ(script.record().attempts[0].queue_wait, 500ms);
  EXPECT_EQ(script.record().attempts[1].outcome, attempt_outcome::waiting);
}

TEST(WaitingForTheGate, TakesTheBudgetAndDeadlineOfTheRequest) {
  auto request = to_ledger();
  request.queue_budget = 40ms;
  request.deadline = 2s;
  engine_script script(request);
  script.go_to_queue();
  EXPECT_NE(script.waiting_text()->find("SET LOCAL lock_timeout = 40;"), std::string::npos);
  EXPECT_EQ(script.record().deadline_at - script.record().started_at, 2s);
}

TEST(WaitingForTheGate, SpreadsTheBackOffByTheJitterAndLengthensIt) {
  std::vector<std::chrono::milliseconds> waits;
  for (const double jitter : {0.0, 0.99}) {
    engine_script script;
    script.set_jitter(jitter);
    script.go_to_queue();
    for (int round = 0; round < 2; ++round) {
      script.pass(500ms);
      script.answer("pg_advisory_xact_lock(1263879245", failed("55P03"));
      const auto before = script.elapsed_time();
      script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
      go_round(script);
      waits.push_back(script.elapsed_time() - before);
    }
  }
  EXPECT_LT(waits[0], waits[1]);
  EXPECT_LT(waits[2], waits[3]);
  EXPECT_LT(waits[0], waits[2]);
}

TEST(WaitingForTheGate, IsAbortedByTheDeadlineAndNamesTheHolder) {
  auto request = to_ledger();
  request.deadline = 3s;
  engine_script script(request);
  go_to_look(script);
  int attempts = 0;
  while (!script.finished()) {
    ASSERT_LT(script.elapsed_time(), 4s);
    const auto text = script.waiting_text().value_or("");
    if (text.find("pg_stat_replication") != std::string::npos) {
      script.answer("", pins({pin("77", "100")}));
    } else if (text.find("(1263879245") != std::string::npos) {
      ++attempts;
      script.pass(std::min<std::chrono::milliseconds>(500ms, 3s - script.elapsed_time()));
      script.answer("", failed("55P03"));
    } else if (text.find("BEGIN") != std::string::npos) {
      script.answer("", control());
    } else if (text.find("(1263879247") != std::string::npos) {
      script.answer("", done());
    } else if (!text.empty()) {
      script.answer("", slot());
    } else {
      script.fire();
    }
  }
  EXPECT_GE(attempts, 1);
  EXPECT_EQ(script.record().reason, abort_reason::deadline);
  EXPECT_NE(script.record().message.find("pid 77 (psql), idle in transaction"), std::string::npos);
  EXPECT_LE(script.elapsed_time(), 3s);
}

TEST(WaitingForTheGate, CallsAnAttemptOffWhenTooManyPinsWait) {
  auto settings = script_settings();
  settings->transitions.max_waiting_pins = 10;
  engine_script script(to_ledger(), settings);
  script.go_to_queue();
  script.pass(50ms);
  script.send(event::pins_observed{seen(9, 30ms)});
  EXPECT_FALSE(script.cancel_wanted());
  script.send(event::pins_observed{seen(10, 40ms)});
  EXPECT_TRUE(script.cancel_wanted());
  script.answer("pg_advisory_xact_lock(1263879245", failed("57014"));
  EXPECT_FALSE(script.waiting_text()) << "a late cancel could hit it";
  script.send(event::cancel_done{});
  script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
  ASSERT_EQ(script.record().attempts.size(), 1u);
  EXPECT_EQ(script.record().attempts[0].outcome, attempt_outcome::harm);
  EXPECT_EQ(script.record().attempts[0].pins_waiting_max, 10u);
  EXPECT_EQ(script.record().timings.max_writer_wait, 40ms);
  go_round(script);
  EXPECT_EQ(script.state(), transition_state::queued);
}

TEST(WaitingForTheGate, GoesOnWhenTheGateWasGrantedWhileItWasBeingCalledOff) {
  auto settings = script_settings();
  settings->transitions.max_waiting_pins = 1;
  engine_script script(to_ledger(), settings);
  script.go_to_queue();
  script.send(event::pins_observed{seen(1)});
  script.answer("pg_advisory_xact_lock(1263879245", done());
  script.send(event::cancel_done{});
  EXPECT_EQ(script.state(), transition_state::holding);
}

TEST(WaitingForTheGate, EndsByHarmWhenEveryAttemptHadToBeCalledOff) {
  auto settings = script_settings();
  settings->transitions.max_waiting_pins = 1;
  auto request = to_ledger();
  request.deadline = 700ms;
  engine_script script(request, settings);
  script.go_to_queue();
  script.pass(690ms);
  script.send(event::pins_observed{seen(5)});
  script.answer("pg_advisory_xact_lock(1263879245", failed("57014"));
  script.send(event::cancel_done{});
  script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
  script.answer("pg_advisory_unlock", slot());
  EXPECT_EQ(script.record().reason, abort_reason::harm);
}

TEST(WaitingForTheGate, ADeadlockEndsTheAttemptAndNotTheTransition) {
  engine_script script;
  script.go_to_queue();
  script.answer("pg_advisory_xact_lock(1263879245", failed("40P01", "deadlock detected"));
  // The applier lock must go as well, or the other side of the circle would wait on.
  script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
  go_round(script);
  EXPECT_EQ(script.state(), transition_state::queued);
  EXPECT_EQ(script.record().attempts[0].outcome, attempt_outcome::deadlock);
}

TEST(WaitingForTheGate, CallsAnAttemptOffBeforeAWriterFindsTheDeadlock) {
  engine_script script;
  script.go_to_queue();
  auto circle = seen(0);
  circle.holders.resize(1);
  circle.holders[0].pid = 77;
  script.send(event::pins_observed{circle});
  EXPECT_FALSE(script.cancel_wanted());
  circle.holders[0].waits_for_applier = true;
  script.send(event::pins_observed{circle});
  EXPECT_TRUE(script.cancel_wanted());
  script.send(event::cancel_done{});
  script.answer("pg_advisory_xact_lock(1263879245", failed("57014"));
  script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
  EXPECT_EQ(script.record().attempts[0].outcome, attempt_outcome::deadlock);
  EXPECT_EQ(script.state(), transition_state::waiting_quiet);
}

TEST(WaitingForTheGate, AnErrorOfTheServerAbortsWithItsWords) {
  engine_script script;
  script.go_to_queue();
  script.answer("pg_advisory_xact_lock(1263879245", failed("53200", "out of shared memory"));
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.record().reason, abort_reason::step);
  EXPECT_EQ(script.record().error->message, "out of shared memory");
  EXPECT_EQ(script.record().attempts[0].outcome, attempt_outcome::failed);
}

TEST(WaitingForTheGate, AnAdministratorsCancelAborts) {
  engine_script script;
  script.go_to_queue();
  script.answer("pg_advisory_xact_lock(1263879245", failed("57014"));
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.record().reason, abort_reason::cancelled);
}

TEST(WaitingForTheGate, AChangeByOthersDuringTheBackOffIsAConflict) {
  auto request = to_ledger();
  request.expect_version = "700";
  engine_script script(request);
  script.go_to_queue();
  script.pass(500ms);
  script.answer("pg_advisory_xact_lock(1263879245", failed("55P03"));
  script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
  script.fire();
  script.answer("BEGIN", control("shadow", "750"));
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.record().reason, abort_reason::conflict);
}

} // namespace
} // namespace ledgergate::transition
