// While it waits: an operator cancels, or the connection dies.
#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

TEST(Cancelling, EndsTheWaitInTheQueue) {
  engine_script script;
  script.go_to_queue();
  EXPECT_TRUE(script.engine().cancellable());
  script.send(event::cancel_asked{"an operator cancelled it"});
  EXPECT_TRUE(script.cancel_wanted());
  EXPECT_FALSE(script.engine().cancellable());
  script.send(event::cancel_done{});
  script.answer("pg_advisory_xact_lock(1263879245", failed("57014"));
  script.answer("ROLLBACK; SELECT pg_catalog.pg_advisory_unlock", slot());
  EXPECT_EQ(script.state(), transition_state::aborted);
  EXPECT_EQ(script.record().reason, abort_reason::cancelled);
  EXPECT_EQ(script.record().message, "an operator cancelled it");
  EXPECT_EQ(script.record().attempts[0].outcome, attempt_outcome::cancelled);
}

TEST(Cancelling, OfTheEndItselfDropsTheConnectionSoThatNothingStaysLocked) {
  engine_script script;
  script.go_to_queue();
  script.send(event::cancel_asked{"an operator cancelled it"});
  script.send(event::cancel_done{});
  script.answer("pg_advisory_xact_lock(1263879245", failed("57014"));
  script.answer("ROLLBACK; SELECT pg_catalog.pg_advisory_unlock", failed("57014"));
  EXPECT_TRUE(script.drop_wanted());
  EXPECT_EQ(script.state(), transition_state::aborted);
}

TEST(Cancelling, WinsOverAGrantThatComesAtTheSameMoment) {
  engine_script script;
  script.go_to_queue();
  script.send(event::cancel_asked{"an operator cancelled it"});
  script.answer("pg_advisory_xact_lock(1263879245", done());
  script.send(event::cancel_done{});
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.record().reason, abort_reason::cancelled);
}

TEST(Cancelling, EndsEveryOtherWaitToo) {
  {
    SCOPED_TRACE("quiet");
    engine_script script;
    script.connect();
    script.answer("pg_try_advisory_lock", slot());
    script.answer("BEGIN", control());
    script.answer("pg_advisory_xact_lock(1263879247", done());
    script.answer("pg_stat_replication", pins({pin("77", "100")}));
    script.send(event::cancel_asked{"stop"});
    script.answer("ROLLBACK", slot());
    EXPECT_EQ(script.record().reason, abort_reason::cancelled);
  }
  {
    SCOPED_TRACE("backing off");
    engine_script script;
    script.go_to_queue();
    script.answer("pg_advisory_xact_lock(1263879245", failed("55P03"));
    script.answer("ROLLBACK", done("ROLLBACK", transaction_status::idle));
    script.send(event::cancel_asked{"stop"});
    script.answer("pg_advisory_unlock", slot());
    EXPECT_EQ(script.record().reason, abort_reason::cancelled);
  }
  {
    SCOPED_TRACE("reconnecting");
    engine_script script;
    script.go_to_queue();
    script.lose();
    script.send(event::cancel_asked{"stop"});
    EXPECT_TRUE(script.finished());
    EXPECT_EQ(script.record().reason, abort_reason::cancelled);
  }
}

TEST(Cancelling, IsRepeatedWhenItCameBeforeTheStatement) {
  engine_script script;
  script.go_to_queue();
  script.send(event::cancel_asked{"stop"});
  script.send(event::cancel_done{});
  EXPECT_FALSE(script.cancel_wanted());
  script.fire();
  EXPECT_TRUE(script.cancel_wanted());
}

TEST(Cancelling, ClosesTheConnectionWhenItIsNotConfirmed) {
  engine_script script;
  script.go_to_queue();
  script.send(event::cancel_asked{"stop"});
  EXPECT_LE(script.fire(), 1s);
  EXPECT_TRUE(script.drop_wanted());
  script.lose();
  EXPECT_TRUE(script.finished());
  EXPECT_EQ(script.record().reason, abort_reason::cancelled);
}

TEST(LostConnection, WhileItWaitsIsMadeAgainAndTheWaitGoesOn) {
  engine_script script;
  script.go_to_queue();
  script.pass(200ms);
  script.lose();
  EXPECT_EQ(script.state(), transition_state::waiting_quiet);
  script.go_to_queue();
  EXPECT_EQ(script.state(), transition_state::queued);
  EXPECT_EQ(script.record().attempts[0].outcome, attempt_outcome::failed);
  EXPECT_EQ(script.record().attempts[0].queue_wait, 200ms);
}

TEST(LostConnection, WaitsForTheSlotThatItsOldSessionMayStillHold) {
  engine_script script;
  script.go_to_queue();
  script.lose();
  script.connect();
  script.answer("pg_try_advisory_lock", slot(false));
  EXPECT_FALSE(script.finished());
  script.fire();
  script.answer("pg_try_advisory_lock", slot());
  script.answer("BEGIN", control());
}

TEST(LostConnection, ByAnAdministratorAborts) {
  engine_script script;
  script.go_to_queue();
  script.lose("57P01");
  EXPECT_TRUE(script.finished());
  EXPECT_EQ(script.record().reason, abort_reason::cancelled);
}

TEST(LostConnection, UntilTheDeadlineAborts) {
  engine_script script;
  script.go_to_queue();
  script.lose();
  script.fire();
  EXPECT_TRUE(script.finished());
  EXPECT_EQ(script.record().reason, abort_reason::deadline);
  EXPECT_EQ(script.elapsed_time(), 30s);
}

} // namespace
} // namespace ledgergate::transition
