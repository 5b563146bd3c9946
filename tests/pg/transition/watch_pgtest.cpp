// The pin watch, the control row and the sessions themselves against a real server.
#include <algorithm>

#include "tests/pg/transition/control_fixture.hpp"

namespace ledgergate::control {
namespace {

class Watch : public control_test {
 protected:
  pins_answer pins() {
    std::optional<pins_answer> answer;
    service->pins([&](pins_answer given) { answer = std::move(given); });
    turn_until("the pins", [&] { return answer.has_value(); });
    return *answer;
  }
  std::optional<transition::gate_lock> of(const std::vector<transition::gate_lock>& locks,
                                          const std::string& pid) {
    const auto found = std::find_if(locks.begin(), locks.end(), [&](const transition::gate_lock& lock) {
      return std::to_string(lock.pid.value_or(0)) == pid;
    });
    return found == locks.end() ? std::nullopt : std::optional(*found);
  }
};

TEST_F(Watch, ShowsHoldersOfEveryKindAndWaiters) {
  pg_client transaction, session, gone, exclusive, waiter, elsewhere("app", "unrelated");
  transaction.run("BEGIN");
  transaction.run(pin_key);
  transaction.run("SELECT 'secret'");
  session.run("SELECT pg_advisory_lock_shared(1263879245)");
  gone.run("BEGIN");
  gone.run(pin_key);
  gone.run("PREPARE TRANSACTION 'settle-18'");
  elsewhere.run("SELECT pg_advisory_lock(1263879244), pg_advisory_lock(0, 1263879245)");
  exclusive.send("SELECT pg_advisory_lock(1263879245)");
  turn_until("the transition to queue",
             [&] { return administrator.value("SELECT count(*) FROM pg_locks WHERE NOT granted") == "1"; });
  waiter.send(pin_key);
  turn_until("the waiter to queue",
             [&] { return administrator.value("SELECT count(*) FROM pg_locks WHERE NOT granted") == "2"; });
  connect();

  const auto answer = pins();
  ASSERT_TRUE(answer.snapshot) << answer.error;
  EXPECT_EQ(answer.snapshot->pins_held(), 3u);
  EXPECT_EQ(answer.snapshot->pins_waiting(), 1u);
  ASSERT_EQ(answer.snapshot->waiters.size(), 2u);
  EXPECT_FALSE(of(answer.snapshot->holders, elsewhere.pid()));

  const auto holder = of(answer.snapshot->holders, transaction.pid());
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->user, "app");
  EXPECT_EQ(holder->application, "writer");
  EXPECT_EQ(holder->client_address, "127.0.0.1");
  EXPECT_TRUE(holder->client_port);
  EXPECT_TRUE(holder->backend_start);
  EXPECT_EQ(holder->state, "idle in transaction");
  EXPECT_TRUE(holder->transaction_age);
  EXPECT_EQ(holder->query, "SELECT ?") << "constants are not shown";

  const auto hold = of(answer.snapshot->holders, session.pid());
  ASSERT_TRUE(hold);
  EXPECT_FALSE(hold->transaction_age);
  EXPECT_TRUE(hold->age());

  const auto prepared = std::find_if(answer.snapshot->holders.begin(), answer.snapshot->holders.end(),
                                     [](const transition::gate_lock& lock) { return !lock.pid; });
  ASSERT_NE(prepared, answer.snapshot->holders.end());
  EXPECT_EQ(prepared->prepared_gid, "settle-18");
  EXPECT_TRUE(prepared->age());

  const auto waits = of(answer.snapshot->waiters, waiter.pid());
  ASSERT_TRUE(waits);
  EXPECT_GT(waits->wait.value_or(0us), 0us);
  EXPECT_EQ(of(answer.snapshot->waiters, exclusive.pid())->hold, transition::gate_hold::exclusive);

  const auto status = service->status();
  EXPECT_EQ(status.pins_held, 3u);
  EXPECT_EQ(status.pins_waiting, 1u);
  EXPECT_TRUE(status.oldest_pin_age);
  gone.run("ROLLBACK PREPARED 'settle-18'");
}

TEST_F(Watch, ShowsStatementsAsTheLogMay) {
  pg_client writer;
  writer.run("BEGIN");
  writer.run(pin_key);
  for (const auto& [how, expected] :
       {std::pair{config::log_statements::full, std::optional<std::string>(pin_key)},
        std::pair{config::log_statements::none, std::optional<std::string>()}}) {
    settings->log.statements = how;
    connect();
    const auto answer = pins();
    ASSERT_TRUE(answer.snapshot);
    ASSERT_EQ(answer.snapshot->holders.size(), 1u);
    EXPECT_EQ(answer.snapshot->holders[0].query, expected);
    service.reset();
  }
}

TEST_F(Watch, IsNamedAndGuardedAgainstItsOwnDeath) {
  connect();
  turn_until("the three control sessions", [&] {
    return administrator.value("SELECT count(*) FROM pg_stat_activity WHERE application_name ~ "
                               "'^ledgergate/[0-9.]+@.+' AND usename = 'gate_operator'") == "3";
  });
  settings->transitions.guards["ledger"] = {
      "SELECT current_setting('client_connection_check_interval') = '500ms' "
      "AND current_setting('idle_in_transaction_session_timeout') = '1s' "
      "AND current_setting('deadlock_timeout') = '50ms'"};
  service->reload(settings);
  EXPECT_EQ(run(to("ledger")).state, transition_state::committed);
}

TEST_F(Watch, DoesWithoutTheShortDeadlockTimeoutWhereTheRoleMayNotSetIt) {
  administrator.run("REVOKE SET ON PARAMETER deadlock_timeout FROM gate_operator");
  connect();
  administrator.run("GRANT SET ON PARAMETER deadlock_timeout TO gate_operator");
  EXPECT_FALSE(service->status().deadlock_takes_transition);
  EXPECT_EQ(run(to("ledger")).state, transition_state::committed);
}

TEST_F(Watch, RefusesADatabaseThatIsNotTheGatedOne) {
  settings->control.dsn = test_server::dsn("postgres") + " dbname=postgres";
  service = std::make_unique<control_service>(io, settings);
  service->start();
  turn_until("the reason", [&] {
    return service->status().last_error.find("gate.database is horde") != std::string::npos;
  });
  EXPECT_FALSE(service->status().connected);
  EXPECT_EQ(start(to("ledger")).kind, start_answer::kind::unavailable);
  EXPECT_FALSE(pins().snapshot);
}

TEST_F(Watch, SaysWhyItCannotConnect) {
  settings->control.dsn =
      "host=localhost port=" + test_server::port() + " dbname=no_such_database user=gate_operator";
  service = std::make_unique<control_service>(io, settings);
  service->start();
  turn_until("the reason",
             [&] { return service->status().last_error.find("no_such_database") != std::string::npos; });
  EXPECT_FALSE(service->status().watching);
}

TEST_F(Watch, LooksHostNamesUpAndTriesThemInTurn) {
  settings->control.dsn = "host=no-such-host.invalid,localhost port=1," + test_server::port() +
                          " dbname=horde user=gate_operator";
  connect();
  EXPECT_EQ(service->status().database, "horde");
}

TEST_F(Watch, SaysThatTheControlRowIsMissing) {
  administrator.run("DELETE FROM kudos_ledger_control");
  service = std::make_unique<control_service>(io, settings);
  service->start();
  turn_until("the reason", [&] { return service->status().last_error == "the control row does not exist"; });
  EXPECT_FALSE(service->status().mode);
}

TEST_F(Watch, TellsWhichTransactionWroteTheControlRow) {
  connect();
  const auto written_by = administrator.value(
      "BEGIN; UPDATE kudos_ledger_control SET changed_at = now(); SELECT pg_current_xact_id()");
  administrator.run("COMMIT");
  std::optional<control_row_answer> answer;
  service->read_control_row([&](control_row_answer given) { answer = std::move(given); });
  turn_until("the control row", [&] { return answer.has_value(); });
  EXPECT_EQ(answer->mode, "shadow");
  EXPECT_EQ(std::to_string(answer->xmin.value_or(0)), written_by);
}

} // namespace
} // namespace ledgergate::control
