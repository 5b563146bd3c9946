// Under the gate and after it: the second compare, guards, steps, the change, the budget, the commit and its
// doubts.
#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

std::shared_ptr<config::settings> with_work() {
  auto settings = script_settings();
  settings->transitions.guards["ledger"] = {"select guard_one()", "select guard_two()"};
  settings->transitions.steps["ledger"] = {"select fold()"};
  settings->transitions.guards["shadow"] = {"select not_for_this_mode()"};
  settings->transitions.notify = "ledger_mode";
  settings->control_row.changed_at_column = "changed_at";
  return settings;
}

/// Until `fragment` is the text that waits for its answer, every answer before it being a good one.
void go_until(engine_script& script, std::string_view fragment) {
  const std::pair<std::string_view, sql_result> answers[] = {
      {"(1263879245", done()},
      {"pg_current_xact_id()::pg_catalog.text FROM locks", grant_facts_of()},
      {"guard_one", guard("t")},
      {"guard_two", guard("t")},
      {"fold", done()},
      {"UPDATE", change_of()},
      {"SET CONSTRAINTS", done("SET")},
  };
  script.go_to_queue();
  for (const auto& [text, result] : answers) {
    ASSERT_TRUE(script.waiting_text());
    if (script.waiting_text()->find(fragment) != std::string::npos) return;
    if (script.waiting_text()->find(text) != std::string::npos) script.answer(text, result);
  }
  ASSERT_NE(script.waiting_text()->find(fragment), std::string::npos) << *script.waiting_text();
}

TEST(HoldingTheGate, RunsGuardsThenStepsThenTheChangeThenNotifyThenCommits) {
  engine_script script(to_ledger(), with_work());
  script.go_to_queue();
  script.pass(20ms);
  script.answer("pg_advisory_xact_lock(1263879245", done());
  EXPECT_EQ(script.state(), transition_state::holding);
  script.pass(1ms);
  script.answer("FROM \"kudos_ledger_control\"", grant_facts_of());
  script.answer("select guard_one()", guard("t"));
  script.answer("select guard_two()", guard("t"));
  script.answer("select fold()", done());
  script.answer("UPDATE \"kudos_ledger_control\" SET \"mode\" = 'ledger', \"changed_at\"", change_of());
  script.answer("pg_catalog.pg_notify('ledger_mode'", done("SET"));
  script.pass(4ms);
  script.answer("COMMIT", committed());
  EXPECT_FALSE(script.finished());
  script.answer("pg_advisory_unlock", slot());
  EXPECT_TRUE(script.finished());

  const auto record = script.record();
  EXPECT_EQ(record.state, transition_state::committed);
  EXPECT_TRUE(record.changed);
  EXPECT_EQ(record.from, "shadow");
  EXPECT_EQ(record.version_before, "700");
  EXPECT_EQ(record.version_after, "801");
  EXPECT_EQ(record.timings.queue_wait, 20ms);
  EXPECT_EQ(record.timings.hold, 5ms);
  EXPECT_EQ(record.timings.total, 25ms);
  EXPECT_FALSE(record.reason);
  const std::vector<transition_state> expected{transition_state::waiting_applier, transition_state::queued,
                                               transition_state::holding, transition_state::committed};
  EXPECT_EQ(script.states(), expected);
}

TEST(HoldingTheGate, ArmsEachStatementWithTheRestOfTheBudget) {
  engine_script script(to_ledger(), with_work());
  script.go_to_queue();
  script.answer("pg_advisory_xact_lock(1263879245", done());
  script.answer("SET LOCAL statement_timeout = 5000;", grant_facts_of());
  script.pass(1000ms);
  script.answer("SET LOCAL statement_timeout = 5000; select guard_one()", guard("t"));
  script.answer("SET LOCAL statement_timeout = 4000; select guard_two()", guard("t"));
}

TEST(HoldingTheGate, WaitsForRowsForLessThanAnotherBackendsDeadlockTimeout) {
  engine_script script;
  script.connect(300ms);
  script.answer("pg_try_advisory_lock", slot());
  script.answer("BEGIN", control());
  script.answer("(1263879247", done());
  script.answer("pg_stat_replication", pins());
  script.answer("(1263879245", done());
  EXPECT_NE(script.waiting_text()->find("SET LOCAL lock_timeout = 150;"), std::string::npos);
}

TEST(HoldingTheGate, ComparesAgainUnderTheGate) {
  auto request = to_ledger();
  request.from = "shadow";
  struct test_case {
    const char* name;
    sql_result found;
    transition_state state;
    std::optional<abort_reason> reason;
  };
  const test_case cases[] = {
      {"another was faster", grant_facts_of("ledger", "790"), transition_state::committed, std::nullopt},
      {"a third mode", grant_facts_of("frozen", "790"), transition_state::aborted, abort_reason::conflict},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    engine_script script(request);
    script.go_to_queue();
    script.answer("(1263879245", done());
    script.answer("pg_current_xact_id", c.found);
    script.answer("ROLLBACK", slot());
    EXPECT_EQ(script.state(), c.state);
    EXPECT_EQ(script.record().reason, c.reason);
    EXPECT_FALSE(script.record().changed);
    ASSERT_TRUE(script.finished());
  }
}

struct failure_case {
  const char* name;
  const char* at; ///< the text that fails
  sql_result result;
  abort_reason reason;
};

TEST(HoldingTheGate, AnyFailureRollsEverythingBackAndIsPutDownToWhatFailed) {
  sql_result none_changed = change_of();
  none_changed.sets.back().rows.clear();
  const failure_case cases[] = {
      {"guard false", "guard_one", guard("f"), abort_reason::guard},
      {"guard null", "guard_two", guard(std::nullopt), abort_reason::guard},
      {"guard is no boolean", "guard_one", guard("yes"), abort_reason::guard},
      {"guard error", "guard_one", failed("22012", "division by zero"), abort_reason::guard},
      {"step error", "fold", failed("23514", "check"), abort_reason::step},
      {"step ended the transaction", "fold", done("COMMIT", transaction_status::idle), abort_reason::step},
      {"change refused", "UPDATE", failed("42501"), abort_reason::step},
      {"row gone", "UPDATE", none_changed, abort_reason::step},
      {"trigger overruled", "UPDATE", change_of("shadow"), abort_reason::step},
      {"step committed and began again", "UPDATE", change_of("ledger", "801", "802"), abort_reason::step},
      {"deferred constraint", "SET CONSTRAINTS", failed("23503"), abort_reason::step},
      {"administrator", "fold", failed("57014"), abort_reason::cancelled},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    engine_script script(to_ledger(), with_work());
    go_until(script, c.at);
    script.answer(c.at, c.result);
    script.answer(c.result.status == transaction_status::idle ? "pg_advisory_unlock" : "ROLLBACK", slot());
    EXPECT_EQ(script.state(), transition_state::aborted);
    EXPECT_EQ(script.record().reason, c.reason);
    EXPECT_EQ(script.record().error, c.result.error);
    EXPECT_FALSE(script.record().changed);
    EXPECT_TRUE(script.finished());
  }
}

TEST(HoldingTheGate, AGuardWithoutARowDoesNotHold) {
  engine_script script(to_ledger(), with_work());
  go_until(script, "guard_one");
  sql_result empty = guard("t");
  empty.sets.back().rows.clear();
  script.answer("guard_one", empty);
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.record().reason, abort_reason::guard);
}

TEST(HoldingTheGate, AStatementThatOutlastsTheBudgetIsNotAnAdministratorsCancel) {
  engine_script script(to_ledger(), with_work());
  go_until(script, "fold");
  script.pass(5s);
  script.answer("fold", failed("57014"));
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.record().reason, abort_reason::step);
  EXPECT_EQ(script.record().message, "hold_budget was used up");
}

TEST(HoldingTheGate, StartsNothingMoreWhenTheBudgetIsUsedUp) {
  engine_script script(to_ledger(), with_work());
  go_until(script, "guard_two");
  script.pass(5s);
  script.answer("guard_two", guard("t"));
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.record().reason, abort_reason::guard);
}

TEST(HoldingTheGate, TheDeadlineCutsTheHold) {
  auto request = to_ledger();
  request.deadline = 1s;
  engine_script script(request, with_work());
  go_until(script, "fold");
  EXPECT_NE(script.waiting_text()->find("SET LOCAL statement_timeout = 1000;"), std::string::npos);
  script.pass(1s);
  script.answer("fold", failed("57014"));
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.record().reason, abort_reason::deadline);
}

TEST(HoldingTheGate, GivesWayToAWriterAndTriesAgain) {
  for (const char* state : {"40P01", "55P03"}) {
    SCOPED_TRACE(state);
    engine_script script(to_ledger(), with_work());
    go_until(script, "fold");
    script.pass(60ms);
    script.answer("fold", failed(state));
    EXPECT_EQ(script.state(), transition_state::holding)
        << "the gate is free only when the rollback is confirmed";
    script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
    EXPECT_EQ(script.state(), transition_state::waiting_quiet);
    EXPECT_NE(script.record().attempts[0].outcome, attempt_outcome::granted);
    script.fire();
    script.answer("BEGIN", control());
    script.answer("(1263879247", done());
    script.answer("pg_stat_replication", pins());
    script.answer("(1263879245", done());
    script.answer("pg_current_xact_id", grant_facts_of());
    script.answer("guard_one", guard("t"));
    script.answer("guard_two", guard("t"));
    script.answer("fold", done());
    script.finish_from_change();
    EXPECT_EQ(script.state(), transition_state::committed);
    EXPECT_EQ(script.record().attempts.size(), 2u);
    EXPECT_EQ(script.record().attempts[1].outcome, attempt_outcome::granted);
  }
}

TEST(HoldingTheGate, CannotBeCancelledAnyMore) {
  engine_script script(to_ledger(), with_work());
  go_until(script, "fold");
  EXPECT_FALSE(script.engine().cancellable());
  script.send(event::cancel_asked{"stop"});
  EXPECT_FALSE(script.cancel_wanted());
  script.answer("fold", done());
  script.finish_from_change();
  EXPECT_EQ(script.state(), transition_state::committed);
}

TEST(HoldingTheGate, CountsTheWaitOfThoseWhoWaitedUntilTheCommit) {
  engine_script script;
  script.go_to_queue();
  script.answer("(1263879245", done());
  script.answer("pg_current_xact_id", grant_facts_of("shadow", "700", "3", "0.080"));
  script.pass(30ms);
  script.finish_from_change();
  EXPECT_EQ(script.record().timings.max_writer_wait, 110ms);
}

TEST(Rehearsal, DoesEverythingButTheCommitAndSaysSo) {
  auto settings = script_settings();
  settings->transitions.guards["ledger"] = {"select guard()"};
  settings->transitions.steps["ledger"] = {"select step()"};
  settings->transitions.notify = "ledger_mode";
  auto request = to_ledger();
  request.rehearse = true;
  engine_script script(request, settings);
  script.go_to_queue();
  script.go_to_hold();
  script.answer("select guard()", guard("t"));
  script.answer("select step()", guard("1"));
  script.answer("UPDATE", change_of());
  script.pass(40ms);
  script.answer("pg_notify", done("SET"));
  script.answer("ROLLBACK; SELECT pg_catalog.pg_advisory_unlock", slot());
  EXPECT_TRUE(script.finished());
  const auto record = script.record();
  EXPECT_EQ(record.state, transition_state::aborted);
  EXPECT_TRUE(record.rehearsed);
  EXPECT_FALSE(record.reason);
  EXPECT_FALSE(record.changed);
  EXPECT_EQ(record.timings.hold, 40ms);
  EXPECT_NE(record.message.find("the mode is still shadow"), std::string::npos) << record.message;
}

TEST(Rehearsal, ThatFailsIsNotOneThatWentWell) {
  auto request = to_ledger();
  request.rehearse = true;
  engine_script script(request);
  script.go_to_queue();
  script.go_to_hold();
  script.answer("UPDATE", failed("42501"));
  script.answer("ROLLBACK", slot());
  EXPECT_FALSE(script.record().rehearsed);
  EXPECT_EQ(script.record().reason, abort_reason::step);
}

TEST(HoldingTheGate, SeesThatTheCommitWaitsForAStandby) {
  engine_script script;
  script.go_to_queue();
  script.go_to_hold();
  script.answer("UPDATE", change_of());
  script.answer("SET CONSTRAINTS", done("SET"));
  pin_snapshot pins;
  pins.holders.resize(1);
  pins.holders[0].pid = 4711;
  pins.holders[0].hold = gate_hold::exclusive;
  script.send(event::pins_observed{pins});
  EXPECT_EQ(script.record().message, "holds the gate") << "it has just begun";
  pins.holders[0].wait_event = "SyncRep";
  script.send(event::pins_observed{pins});
  EXPECT_EQ(script.state(), transition_state::holding);
  EXPECT_NE(script.record().message.find("synchronous standby"), std::string::npos);
  script.answer("COMMIT", committed());
  EXPECT_EQ(script.state(), transition_state::committed);
}

TEST(HoldingTheGate, TheCommitHasNoTimeoutAndSaysWhenItHangs) {
  engine_script script;
  script.go_to_queue();
  script.go_to_hold();
  script.answer("UPDATE", change_of());
  EXPECT_TRUE(script.waiting_text()->ends_with("SET LOCAL statement_timeout = 0"));
  script.answer("SET CONSTRAINTS", done("SET"));
  EXPECT_EQ(script.fire(), 1s);
  EXPECT_EQ(script.state(), transition_state::holding);
  EXPECT_NE(script.record().message.find("standby"), std::string::npos);
  EXPECT_FALSE(script.drop_wanted());
  EXPECT_FALSE(script.cancel_wanted());
  script.pass(60s);
  script.answer("COMMIT", committed());
  script.answer("pg_advisory_unlock", slot());
  EXPECT_EQ(script.state(), transition_state::committed);
}

TEST(HoldingTheGate, ACommitThatFailsOrRollsBackIsNoSuccess) {
  const sql_result rolled_back{{result_set{"ROLLBACK", 0, {}}}, std::nullopt, transaction_status::idle};
  sql_result error = failed("40001");
  error.status = transaction_status::idle;
  for (const auto& result : {rolled_back, error}) {
    engine_script script;
    script.go_to_queue();
    script.go_to_hold();
    script.answer("UPDATE", change_of());
    script.answer("SET CONSTRAINTS", done("SET"));
    script.answer("COMMIT", result);
    script.answer("pg_advisory_unlock", slot());
    EXPECT_EQ(script.state(), transition_state::aborted);
    EXPECT_EQ(script.record().reason, abort_reason::step);
    EXPECT_FALSE(script.record().changed);
  }
}

TEST(LostConnection, UnderTheGateAbortsAndIsPutDownToWhatRan) {
  struct test_case {
    const char* at;
    const char* sqlstate;
    abort_reason reason;
  };
  for (const auto& c :
       {test_case{"guard_two", "08006", abort_reason::guard}, test_case{"fold", "57P02", abort_reason::step},
        test_case{"SET CONSTRAINTS", "08006", abort_reason::step},
        test_case{"fold", "57P01", abort_reason::cancelled}}) {
    SCOPED_TRACE(c.at);
    engine_script script(to_ledger(), with_work());
    go_until(script, c.at);
    script.lose(c.sqlstate);
    EXPECT_TRUE(script.finished());
    EXPECT_EQ(script.state(), transition_state::aborted);
    EXPECT_EQ(script.record().reason, c.reason);
    EXPECT_EQ(script.record().error->sqlstate, c.sqlstate);
  }
}

/// Until COMMIT was sent and the connection died.
void lose_commit(engine_script& script) {
  script.go_to_queue();
  script.go_to_hold();
  script.answer("UPDATE", change_of());
  script.answer("SET CONSTRAINTS", done("SET"));
  ASSERT_NE(script.waiting_text()->find("COMMIT"), std::string::npos);
  script.lose();
}

sql_result outcome(sql_value status, std::string version = "801") {
  return {{rows({{status}}), rows({{"ledger", version, "900"}})}, std::nullopt, transaction_status::idle};
}

TEST(LostCommit, IsUnknownUntilTheServerSaysHowItEnded) {
  engine_script script;
  lose_commit(script);
  EXPECT_EQ(script.state(), transition_state::unknown);
  EXPECT_FALSE(script.finished());
  EXPECT_FALSE(script.record().finished_at);
  EXPECT_FALSE(script.engine().cancellable());
}

TEST(LostCommit, IsReportedAsTheServerSays) {
  struct test_case {
    const char* name;
    sql_result answer;
    transition_state state;
  };
  sql_result unassigned = failed("22023", "transaction ID 801 is in the future");
  unassigned.status = transaction_status::idle;
  for (const auto& c :
       {test_case{"committed", outcome("committed"), transition_state::committed},
        test_case{"aborted", outcome("aborted"), transition_state::aborted},
        test_case{"too long ago, our row", outcome(std::nullopt), transition_state::committed},
        test_case{"a standby without it", unassigned, transition_state::aborted}}) {
    SCOPED_TRACE(c.name);
    engine_script script;
    lose_commit(script);
    script.connect();
    script.answer("pg_xact_status('801'::pg_catalog.xid8)", c.answer);
    EXPECT_TRUE(script.finished());
    EXPECT_EQ(script.state(), c.state);
    EXPECT_EQ(script.record().changed, c.state == transition_state::committed);
  }
}

TEST(LostCommit, IsAskedForUntilThereIsAnAnswer) {
  engine_script script;
  lose_commit(script);
  script.connect();
  script.answer("pg_xact_status", outcome("in progress"));
  EXPECT_EQ(script.state(), transition_state::unknown);
  script.fire();
  script.lose();
  EXPECT_EQ(script.state(), transition_state::unknown);
  script.connect();
  script.answer("pg_xact_status", outcome(std::nullopt, "999"));
  EXPECT_EQ(script.state(), transition_state::unknown) << "the row was changed by another: nobody can tell";
  script.fire();
  script.answer("pg_xact_status", outcome("committed"));
  EXPECT_EQ(script.state(), transition_state::committed);
  const std::vector<transition_state> seen_states = script.states();
  EXPECT_EQ(seen_states[seen_states.size() - 2], transition_state::unknown);
}

TEST(LostCommit, AfterTheAnswerToTheCommitChangesNothing) {
  engine_script script;
  script.go_to_queue();
  script.go_to_hold();
  script.answer("UPDATE", change_of());
  script.answer("SET CONSTRAINTS", done("SET"));
  script.answer("COMMIT", committed());
  script.lose();
  EXPECT_EQ(script.state(), transition_state::committed);
  EXPECT_TRUE(script.record().changed);
  EXPECT_TRUE(script.finished());
}

} // namespace
} // namespace ledgergate::transition
