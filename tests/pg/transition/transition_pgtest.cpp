// Transitions against a real server: what is committed, what is refused, what is rolled back.
#include "tests/pg/transition/control_fixture.hpp"

namespace ledgergate::control {
namespace {

class Transition : public control_test {};

TEST_F(Transition, ChangesTheModeAndSaysWhatItCost) {
  pg_client listener;
  listener.run("LISTEN ledger_mode");
  settings->transitions.notify = "ledger_mode";
  connect();
  auto request = to("ledger");
  request.from = "shadow";
  request.reason = "it's \"time\"";
  request.expect_version = service->status().version;
  const auto done = run(request);

  EXPECT_EQ(done.state, transition_state::committed);
  EXPECT_TRUE(done.changed);
  EXPECT_EQ(done.from, "shadow");
  EXPECT_EQ(mode(), "ledger");
  EXPECT_EQ(done.version_before, request.expect_version);
  EXPECT_EQ(done.version_after, administrator.value("SELECT xmin FROM kudos_ledger_control"));
  EXPECT_EQ(administrator.value("SELECT abs(extract(epoch FROM timezone('UTC', now()) - changed_at)) < 60 "
                                "FROM kudos_ledger_control"),
            "t");
  ASSERT_EQ(done.attempts.size(), 1u);
  EXPECT_EQ(done.attempts[0].outcome, attempt_outcome::granted);
  EXPECT_GT(done.timings.hold, 0us);
  EXPECT_GE(done.timings.total, done.timings.hold + done.timings.queue_wait + done.timings.applier_wait);
  EXPECT_TRUE(done.finished_at);

  std::optional<std::string> payload;
  turn_until("the notification", [&] { return (payload = listener.notification()).has_value(); });
  EXPECT_NE(payload->find(done.id), std::string::npos);
  EXPECT_NE(payload->find(R"("reason" : "it's \"time\"")"), std::string::npos) << *payload;
  turn_until("the new mode in the status", [&] { return service->status().mode == "ledger"; });
  EXPECT_EQ(service->status().version, done.version_after);
  expect_writers_are_free();
}

TEST_F(Transition, ChangesNothingWhenTheModeIsThereAlready) {
  connect();
  const auto before = administrator.value("SELECT xmin FROM kudos_ledger_control");
  const auto answer = start(to("shadow"));
  EXPECT_EQ(answer.kind, start_answer::kind::already_there);
  ASSERT_TRUE(answer.record);
  EXPECT_FALSE(answer.record->changed);
  EXPECT_TRUE(service->get(answer.record->id));
  EXPECT_EQ(administrator.value("SELECT xmin FROM kudos_ledger_control"), before);
}

TEST_F(Transition, IsRefusedWhenWhatTheOperatorSawIsNotSoAnyMore) {
  connect();
  auto stale = to("ledger");
  stale.expect_version = service->status().version;
  administrator.run("UPDATE kudos_ledger_control SET changed_at = now()");
  EXPECT_EQ(start(stale).kind, start_answer::kind::precondition_failed);

  auto wrong = to("shadow");
  administrator.run("UPDATE kudos_ledger_control SET mode = 'ledger'");
  wrong.from = "shadow";
  EXPECT_EQ(start(wrong).kind, start_answer::kind::precondition_failed);

  EXPECT_EQ(start(to("frozen")).kind, start_answer::kind::unknown_mode);
  administrator.run("DELETE FROM kudos_ledger_control");
  const auto answer = start(to("ledger"));
  EXPECT_EQ(answer.kind, start_answer::kind::precondition_failed);
  EXPECT_NE(answer.message.find("does not exist"), std::string::npos);
  expect_writers_are_free();
}

TEST_F(Transition, RunsGuardsAndStepsInItsOwnTransaction) {
  administrator.run("UPDATE kudos_ledger_control SET mode = 'ledger'");
  administrator.run(
      "INSERT INTO kudos_ledger (user_id, amount, applied) VALUES (1, 5, false), (1, 2, false)");
  settings->transitions.guards["shadow"] = {"SELECT mode = 'ledger' FROM kudos_ledger_control",
                                            "select true -- yes"};
  settings->transitions.steps["shadow"] = {
      "CREATE TEMP TABLE seen AS SELECT 1; SELECT fold_postings() -- the fold"};
  connect();
  const auto done = run(to("shadow"));
  EXPECT_EQ(done.state, transition_state::committed) << done.message;
  EXPECT_EQ(administrator.value("SELECT kudos FROM users WHERE id = 1"), "7.00");
}

TEST_F(Transition, AGuardThatIsFalseRollsBackAndNamesItself) {
  settings->transitions.guards["ledger"] = {"select true", "select count(*) = 0 from users"};
  settings->transitions.steps["ledger"] = {"update users set kudos = 99"};
  connect();
  const auto done = run(to("ledger"));
  EXPECT_EQ(done.state, transition_state::aborted);
  EXPECT_EQ(done.reason, abort_reason::guard);
  EXPECT_NE(done.message.find("guard 2"), std::string::npos);
  EXPECT_EQ(mode(), "shadow");
  EXPECT_EQ(administrator.value("SELECT max(kudos) FROM users"), "0.00");
  expect_writers_are_free();
}

TEST_F(Transition, AStepThatFailsRollsBackAndShowsTheServersWords) {
  settings->transitions.steps["ledger"] = {"update users set kudos = 99",
                                           "do $$ begin raise exception 'the books do not balance' using "
                                           "hint = 'count again', detail = 'by 3' ; end $$"};
  connect();
  const auto done = run(to("ledger"));
  EXPECT_EQ(done.reason, abort_reason::step);
  ASSERT_TRUE(done.error);
  EXPECT_EQ(done.error->sqlstate, "P0001");
  EXPECT_EQ(done.error->message, "the books do not balance");
  EXPECT_EQ(done.error->hint, "count again");
  EXPECT_EQ(done.error->detail, "by 3");
  EXPECT_EQ(administrator.value("SELECT max(kudos) FROM users"), "0.00");
  expect_writers_are_free();
}

TEST_F(Transition, AStepThatOutlastsTheHoldBudgetIsRolledBack) {
  settings->transitions.hold_budget = 300ms;
  settings->transitions.steps["ledger"] = {"select pg_sleep(60)"};
  connect();
  const auto done = run(to("ledger"));
  EXPECT_EQ(done.reason, abort_reason::step);
  EXPECT_EQ(done.message, "hold_budget was used up");
  expect_writers_are_free();
}

TEST_F(Transition, AStepThatEndsTheTransactionNeverLeadsToAChange) {
  for (const char* step : {"COMMIT", "COMMIT; BEGIN", "ROLLBACK"}) {
    SCOPED_TRACE(step);
    settings->transitions.steps["ledger"] = {step};
    connect();
    const auto done = run(to("ledger"));
    EXPECT_EQ(done.reason, abort_reason::step);
    EXPECT_EQ(mode(), "shadow");
    expect_writers_are_free();
    service.reset();
  }
}

TEST_F(Transition, ACopyInAStepAbortsInsteadOfHanging) {
  settings->transitions.steps["ledger"] = {"COPY users FROM STDIN"};
  connect();
  const auto done = run(to("ledger"));
  EXPECT_EQ(done.reason, abort_reason::step);
  EXPECT_EQ(done.error->sqlstate, "0A000");
  expect_writers_are_free();
}

TEST_F(Transition, ReadsTheRowAfterTheGrantWhateverTheDefaultIsolation) {
  administrator.run("ALTER ROLE gate_operator SET default_transaction_isolation = 'serializable'");
  administrator.run("ALTER ROLE gate_operator SET default_transaction_read_only = on");
  administrator.run("ALTER ROLE gate_operator SET statement_timeout = '1ms'");
  settings->transitions.guards["ledger"] = {
      "SELECT current_setting('transaction_isolation') = 'read committed'"};
  connect();
  const auto done = run(to("ledger"));
  administrator.run("ALTER ROLE gate_operator RESET ALL");
  EXPECT_EQ(done.state, transition_state::committed) << done.message;
}

TEST_F(Transition, WorksWithNamesThatNeedQuotes) {
  administrator.run(
      "CREATE SCHEMA IF NOT EXISTS \"Odd\"; DROP TABLE IF EXISTS \"Odd\".\"Mode.Row\"; "
      "CREATE TABLE \"Odd\".\"Mode.Row\" (\"Mode\" text); "
      "INSERT INTO \"Odd\".\"Mode.Row\" VALUES ('it''s \\ old'); "
      "GRANT USAGE ON SCHEMA \"Odd\" TO app; GRANT SELECT, UPDATE ON \"Odd\".\"Mode.Row\" TO app");
  settings->control_row.table = "\"Odd\".\"Mode.Row\"";
  settings->control_row.where = "true -- the only row";
  settings->control_row.mode_column = "Mode";
  settings->control_row.changed_at_column.reset();
  settings->modes = {"it's \\ old", "it's \\ new"};
  connect();
  auto request = to("it's \\ new");
  request.from = "it's \\ old";
  EXPECT_EQ(run(request).state, transition_state::committed);
  EXPECT_EQ(administrator.value("SELECT \"Mode\" FROM \"Odd\".\"Mode.Row\""), "it's \\ new");
}

TEST_F(Transition, IsOnlyOneAtATimeInOneSidecar) {
  settings->transitions.steps["ledger"] = {"select pg_sleep(0.5)"};
  connect();
  const auto first = begin(to("ledger"));
  const auto second = start(to("ledger"));
  EXPECT_EQ(second.kind, start_answer::kind::conflict);
  EXPECT_EQ(second.conflict_id, first);
  EXPECT_EQ(ended(first).state, transition_state::committed);
  EXPECT_EQ(service->list().size(), 1u);
}

TEST_F(Transition, IsOnlyOneAtATimeAcrossSidecarsAndNamesTheOther) {
  settings->transitions.steps["ledger"] = {"select pg_sleep(1)"};
  connect();
  const auto other = connected_service();
  const auto first = begin(to("ledger"));
  const auto second = start(*other, to("ledger"));
  EXPECT_EQ(second.kind, start_answer::kind::conflict) << second.message;
  EXPECT_EQ(second.conflict_id, first);
  EXPECT_NE(second.message.find("ledgergate/"), std::string::npos);
  EXPECT_EQ(ended(first).state, transition_state::committed);
  EXPECT_EQ(start(*other, to("ledger")).kind, start_answer::kind::already_there);
}

TEST_F(Transition, TwoRequestsAtOnceAreAnsweredOneAfterTheOther) {
  connect();
  std::optional<start_answer> first, second;
  service->start_transition(to("ledger"), [&](start_answer answer) { first = std::move(answer); });
  service->start_transition(to("ledger"), [&](start_answer answer) { second = std::move(answer); });
  turn_until("both answers", [&] { return first && second; });
  EXPECT_EQ(first->kind, start_answer::kind::accepted);
  EXPECT_EQ(second->kind, start_answer::kind::conflict);
  EXPECT_EQ(second->conflict_id, first->record->id);
  EXPECT_EQ(ended(first->record->id).state, transition_state::committed);
}

TEST_F(Transition, DoesNotTrustTheSearchPath) {
  administrator.run(
      "CREATE SCHEMA IF NOT EXISTS hostile; GRANT USAGE ON SCHEMA hostile TO app; "
      "CREATE OR REPLACE FUNCTION hostile.pg_advisory_xact_lock(int8) RETURNS void LANGUAGE sql "
      "AS 'SELECT' ; "
      "CREATE OR REPLACE FUNCTION hostile.always(oid, oid) RETURNS bool LANGUAGE sql AS 'SELECT false'; "
      "DROP OPERATOR IF EXISTS hostile.= (oid, oid); "
      "CREATE OPERATOR hostile.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = hostile.always); "
      "ALTER ROLE gate_operator SET search_path = hostile, pg_catalog, public");
  pg_client writer;
  writer.run("BEGIN");
  writer.run(pin_key);
  auto request = to("ledger");
  request.deadline = 1s;
  connect();
  turn_until("the pin to be seen", [&] { return service->status().pins_held == 1; });
  const auto done = run(request);
  administrator.run("ALTER ROLE gate_operator RESET ALL");
  EXPECT_EQ(done.reason, abort_reason::deadline) << done.message;
  EXPECT_EQ(mode(), "shadow");
}

} // namespace
} // namespace ledgergate::control
