// Sessions killed and networks cut under a transition: the mode is the old or the new one, and the record
// says which.
#include "tests/pg/transition/control_fixture.hpp"
#include "tests/pg/transition/cutting_relay.hpp"

namespace ledgergate::control {
namespace {

class Death : public control_test {
 protected:
  /// Lets the control connections run through the relay.
  void connect_through(cutting_relay& relay) {
    settings->control.dsn = test_server::dsn("gate_operator", relay.port());
    connect();
  }
};

TEST_F(Death, OfTheSessionInTheQueueAborts) {
  settings->transitions.queue_budget = 20s;
  connect();
  pinned_client straggler;
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  administrator.run("SELECT pg_terminate_backend(" + transition_pid() + ")");
  const auto done = ended(id);
  EXPECT_EQ(done.reason, abort_reason::cancelled);
  EXPECT_EQ(done.error->sqlstate, "57P01");
  expect_writers_are_free();
  straggler.run("COMMIT");
  turn_until("the connection to be back", [&] { return service->status().connected; });
  EXPECT_EQ(run(to("ledger")).state, transition_state::committed);
}

TEST_F(Death, OfTheSessionThatHoldsTheGateAborts) {
  settings->transitions.steps["ledger"] = {"update users set kudos = 99", "select pg_sleep(20)"};
  connect();
  const auto id = begin(to("ledger"));
  wait_for(id, transition_state::holding);
  administrator.run("SELECT pg_terminate_backend(" + transition_pid() + ")");
  const auto done = ended(id);
  EXPECT_EQ(done.state, transition_state::aborted);
  EXPECT_EQ(done.error->sqlstate, "57P01");
  EXPECT_EQ(mode(), "shadow");
  EXPECT_EQ(administrator.value("SELECT max(kudos) FROM users"), "0.00");
  expect_writers_are_free();
}

TEST_F(Death, OfTheNetworkInTheQueueIsSurvived) {
  settings->transitions.queue_budget = 20s;
  cutting_relay relay(io, test_server::port());
  connect_through(relay);
  pinned_client straggler;
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  relay.cut();
  wait_for(id, transition_state::waiting_quiet);
  expect_writers_are_free();
  relay.mend();
  straggler.run("COMMIT");
  const auto done = ended(id);
  EXPECT_EQ(done.state, transition_state::committed) << done.message;
  EXPECT_EQ(done.attempts[0].outcome, attempt_outcome::failed);
}

TEST_F(Death, OfTheNetworkUnderTheGateAbortsAndFreesTheWriters) {
  settings->transitions.steps["ledger"] = {"select pg_sleep(20)"};
  settings->transitions.hold_budget = 20s;
  cutting_relay relay(io, test_server::port());
  connect_through(relay);
  const auto id = begin(to("ledger"));
  wait_for(id, transition_state::holding);
  relay.cut();
  const auto done = ended(id);
  EXPECT_EQ(done.state, transition_state::aborted);
  EXPECT_EQ(done.reason, abort_reason::step);
  expect_writers_are_free();
  EXPECT_EQ(mode(), "shadow");
  EXPECT_FALSE(service->status().connected);
  EXPECT_FALSE(service->status().last_error.empty());
  relay.mend();
  turn_until("the connection to be back", [&] { return service->status().connected; });
  EXPECT_EQ(service->status().last_error, "");
}

TEST_F(Death, OfTheNetworkDuringTheCommitIsUnknownUntilTheServerTells) {
  // The commit hangs for want of a standby that is asked for only once the gate is held.
  settings->transitions.steps["ledger"] = {"select pg_sleep(0.5)"};
  cutting_relay relay(io, test_server::port());
  connect_through(relay);
  const auto id = begin(to("ledger"));
  wait_for(id, transition_state::holding);
  ask_for_standby("nobody");
  turn_until("the commit to hang", [&] {
    return administrator.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1";
  });
  EXPECT_EQ(record(id).state, transition_state::holding);
  relay.cut();
  wait_for(id, transition_state::unknown);
  EXPECT_FALSE(record(id).finished_at);
  EXPECT_EQ(service->cancel(id, "me"), cancel_result::too_late);
  relay.mend();
  turn_until("the server's answer", [&] { return record(id).message == "the server is still committing"; });
  EXPECT_EQ(record(id).state, transition_state::unknown);
  ask_for_standby("");
  const auto done = ended(id);
  EXPECT_EQ(done.state, transition_state::committed);
  EXPECT_TRUE(done.changed);
  EXPECT_EQ(mode(), "ledger");
  expect_writers_are_free();
}

TEST_F(Death, OfTheSessionDuringTheCommitIsReportedAsTheServerSays) {
  settings->transitions.steps["ledger"] = {"select pg_sleep(0.5)"};
  connect();
  const auto id = begin(to("ledger"));
  wait_for(id, transition_state::holding);
  ask_for_standby("nobody");
  std::string committing;
  turn_until("the commit to hang", [&] {
    committing = administrator.value("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    return !committing.empty();
  });
  administrator.run("SELECT pg_terminate_backend(" + committing + ")");
  const auto done = ended(id);
  ask_for_standby("");
  EXPECT_EQ(done.state, transition_state::committed) << "committed locally is committed";
  EXPECT_EQ(mode(), "ledger");
  expect_writers_are_free();
}

TEST_F(Death, OfAServiceThatGoesAwayWithoutAWordFreesTheWriters) {
  settings->transitions.queue_budget = 20s;
  connect();
  pinned_client straggler;
  pg_client behind;
  const auto id = begin(to("ledger"));
  wait_for_queue(id);
  behind.send(pin_key);
  service.reset();
  expect_granted(behind);
}

TEST_F(Death, OfBothConnectionsIsMended) {
  connect();
  for (int round = 0; round < 2; ++round) {
    administrator.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'ledgergate/%'");
    turn_until("the loss to be noticed", [&] { return !service->status().connected; });
    turn_until("the connections to be back", [&] { return service->status().connected; });
  }
  EXPECT_EQ(run(to("ledger")).state, transition_state::committed);
}

} // namespace
} // namespace ledgergate::control
