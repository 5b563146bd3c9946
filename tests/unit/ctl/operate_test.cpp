// plan, rehearsal, cancel, history, sessions, drain, reload and install: what is sent, what is said, the exit
// codes.
#include "tests/unit/ctl/gatectl_fixture.hpp"

namespace ledgergate::ctl {
namespace {

const char* const transitions = "POST /v1/transitions";

std::string plan_body(bool possible) {
  return std::string(
             R"({"state":"planned","from":"shadow","to":"ledger","version_before":"731","blockers":)") +
         R"([{"hold":"pin","pid":77,"age_ms":1200,"state":"idle in transaction","application":"worker"}],)" +
         R"("plan":{"possible":)" + (possible ? "true" : "false") +
         R"(,"checks":[{"name":"mode","verdict":"good","message":"it would change"},)" +
         R"({"name":"standby","verdict":")" + (possible ? "warning" : "bad") +
         R"(","message":"one is missing"}],)" +
         R"("predicted_pause":{"queue_ms":40,"hold_ms":null,"at_most_ms":5500},"guards":1,"steps":2}})";
}

TEST_F(Gatectl, ShowsThePlanOfAChange) {
  admin_.answer(transitions, 200, plan_body(true));
  EXPECT_EQ(run({"plan", "ledger", "--from", "shadow", "--queue-budget", "200ms"}), exit_code::done);
  EXPECT_EQ(sent_body(),
            boost::json::parse(R"({"to":"ledger","from":"shadow","queue_budget":"200ms","dry_run":true})"));
  expect_said(console_.out,
              {"shadow -> ledger", "ok    it would change", "warn  one is missing", "about 40 ms",
               "never more than 5.5 s", "1 guard, 2 steps", "idle in transaction", "gatectl flip ledger"});
}

TEST_F(Gatectl, APlanThatWouldBeRefusedIsARefusal) {
  admin_.answer(transitions, 200, plan_body(false));
  EXPECT_EQ(run({"plan", "ledger"}), exit_code::refused);
  expect_said(console_.out, {"NO    one is missing", "it would be refused"});
  admin_.answer(transitions, 503, error_body("database_unavailable"));
  EXPECT_EQ(run({"plan", "ledger"}), exit_code::refused);
}

TEST_F(Gatectl, ARehearsalThatWentWellIsDone) {
  admin_.answer(transitions, 202, R"({"id":"t-1","state":"planned","from":"shadow","to":"ledger"})");
  admin_.answer("GET /v1/transitions/t-1", 200,
                R"({"id":"t-1","state":"aborted","changed":false,"from":"shadow","to":"ledger",)"
                R"("result":{"outcome":"rehearsed"}})");
  EXPECT_EQ(run({"flip", "ledger", "--rehearse", "--yes"}), exit_code::done);
  EXPECT_EQ(sent_body(), boost::json::parse(R"({"to":"ledger","rehearse":true})"));
  expect_said(console_.out, {"everything but the commit went well", "the mode is still shadow"});
}

TEST_F(Gatectl, ARequestIdThatWasCarriedOutBeforeIsNotDoneAgain) {
  admin_.answer(transitions, 200,
                R"({"id":"t-1","state":"aborted","reason":"deadline","from":"shadow","to":"ledger"})");
  EXPECT_EQ(run({"flip", "ledger", "--request-id", "deploy-7", "--yes"}), exit_code::aborted);
  EXPECT_EQ(sent_body(), boost::json::parse(R"({"to":"ledger","request_id":"deploy-7"})"));
}

TEST_F(Gatectl, CancelsATransition) {
  admin_.answer("DELETE /v1/transitions/t-1", 202, R"({"id":"t-1","state":"queued"})");
  EXPECT_EQ(run({"cancel", "t-1"}), exit_code::done);
  expect_said(console_.out, {"t-1 is being cancelled"});
  admin_.answer("DELETE /v1/transitions/t-2", 409, error_body("too_late_to_cancel"));
  EXPECT_EQ(run({"cancel", "t-2"}), exit_code::refused);
  expect_said(console_.err, {"gatectl status -w shows how it ends"});
  EXPECT_EQ(run({"cancel", "../status"}), exit_code::usage);
  EXPECT_EQ(run({"cancel"}), exit_code::usage);
}

TEST_F(Gatectl, ALostAnswerToACancelIsUnknown) {
  admin_.answer("DELETE /v1/transitions/t-1", 0, "");
  EXPECT_EQ(run({"cancel", "t-1"}), exit_code::unknown);
}

TEST_F(Gatectl, ListsTheHistory) {
  admin_.answer(
      "GET /v1/transitions", 200,
      R"({"transitions":[{"id":"t-2","from":"ledger","to":"shadow","reason":"deadline",)"
      R"("result":{"outcome":"aborted"},"timings":{"total":30000}},)"
      R"({"id":"t-1","from":"shadow","to":"ledger","changed":true,"result":{"outcome":"committed"},)"
      R"("request":{"requested_by":"10.0.0.7:5","reason":"week 49"}}]})");
  EXPECT_EQ(run({"history"}), exit_code::done);
  expect_said(console_.out, {"aborted (deadline)", "committed", "10.0.0.7:5", "week 49", "t-1", "30.0 s"});
}

TEST_F(Gatectl, ListsTheSessions) {
  admin_.answer("GET /v1/sessions", 200,
                R"({"sessions":[{"client":"10.0.0.7:5","user":"app","state":"in transaction","pinned":true,)"
                R"("backend_pid":4711,"age_ms":1500}]})");
  EXPECT_EQ(run({"sessions"}), exit_code::done);
  expect_said(console_.out, {"1 session", "10.0.0.7:5", "in transaction", "yes", "4711"});
}

TEST_F(Gatectl, Drains) {
  admin_.answer("POST /v1/drain", 202, R"({"draining":true})");
  EXPECT_EQ(run({"drain"}), exit_code::done);
  admin_.answer("POST /v1/drain", 403, error_body("token_missing"));
  run({"drain"});
  EXPECT_EQ(run({"drain"}), exit_code::refused);
  expect_said(console_.err, {"--token-file"});
}

TEST_F(Gatectl, ReloadsAndSaysWhatChanged) {
  admin_.answer("POST /v1/reload", 202, R"({"reloaded":true,"changed":["gate.tables","log.level"]})");
  EXPECT_EQ(run({"reload"}), exit_code::done);
  expect_said(console_.out, {"gate.tables, log.level"});
}

TEST_F(Gatectl, SaysThatAReloadFoundNothingDifferent) {
  admin_.answer("POST /v1/reload", 202, R"({"reloaded":true,"changed":[]})");
  EXPECT_EQ(run({"reload"}), exit_code::done);
  expect_said(console_.out, {"nothing is different"});
}

TEST_F(Gatectl, ShowsEveryReasonWhyAFileWasNotTaken) {
  admin_.answer("POST /v1/reload", 422,
                R"({"error":{"code":"invalid_configuration","message":"the new configuration has errors",)"
                R"("hint":"h","problems":["f.yaml:3:1: modes: one","f.yaml:9:1: x: two"]}})");
  EXPECT_EQ(run({"reload"}), exit_code::refused);
  expect_said(console_.err, {"has errors", "f.yaml:3:1: modes: one", "f.yaml:9:1: x: two"});
}

TEST_F(Gatectl, PrintsTheInstallationAndRunsNothing) {
  admin_.answer("GET /v1/install/refuse", 200, R"({"sql":"BEGIN;\nCOMMIT;\n"})");
  EXPECT_EQ(run({"install", "--print"}), exit_code::done);
  EXPECT_EQ(console_.out.str(), "BEGIN;\nCOMMIT;\n");
  admin_.answer("GET /v1/uninstall", 200, R"({"sql":"DROP"})");
  EXPECT_EQ(run({"uninstall", "--print"}), exit_code::done);
}

TEST_F(Gatectl, InstallsOnlyWhatSomebodyAgreedTo) {
  admin_.answer("GET /v1/install/pin", 200, R"({"sql":"BEGIN; COMMIT;"})");
  EXPECT_EQ(run({"install"}), exit_code::usage) << "without a place to install to";
  EXPECT_EQ(run({"install", "--guards", "maybe", "--dsn", "x"}), exit_code::usage);
  const std::string nowhere = "host=" + folder_.file("") + " connect_timeout=1";
  EXPECT_EQ(run({"install", "--guards", "pin", "--dsn", nowhere}), exit_code::refused);
  expect_said(console_.err, {"nobody can agree"});
  at_a_terminal("no\n");
  EXPECT_EQ(run({"install", "--guards", "pin", "--dsn", nowhere}), exit_code::refused);
  expect_said(console_.out, {"BEGIN; COMMIT;", "Type yes"});
  EXPECT_EQ(run({"install", "--guards", "pin", "--yes", "--dsn", nowhere}), exit_code::refused);
  expect_said(console_.err, {"nothing was touched; see --dsn"});
}

} // namespace
} // namespace ledgergate::ctl
