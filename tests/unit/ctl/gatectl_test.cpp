// gatectl as a whole, against an admin port that follows a script: what is sent, what is said, and the exit
// codes.
#include "tests/unit/ctl/gatectl_fixture.hpp"

namespace ledgergate::ctl {
namespace {

const char* const post = "POST /v1/transitions";
const char* const look = "GET /v1/transitions/t-1";
const std::string planned = R"({"id":"t-1","state":"planned","from":"shadow","to":"ledger"})";
const std::string queued = R"({"id":"t-1","state":"queued","attempts":[{}],"from":"shadow","to":"ledger"})";
const std::string committed =
    R"({"id":"t-1","state":"committed","changed":true,"from":"shadow","to":"ledger"})";
const std::string shadow_status = R"({"ledger":{"mode":"shadow","version":"731"},"pins":{"held":3}})";

TEST_F(Gatectl, ShowsTheStatus) {
  admin_.answer("GET /v1/status", 200, shadow_status);
  EXPECT_EQ(run({"status"}), exit_code::done);
  expect_said(console_.out, {"mode        shadow   version 731"});
}

TEST_F(Gatectl, PassesJsonThroughAsItCame) {
  admin_.answer("GET /v1/pins", 200, R"({"holders":[],"waiters":[],"new_member":1})");
  EXPECT_EQ(run({"pins", "-o", "json"}), exit_code::done);
  EXPECT_EQ(console_.out.str(), "{\"holders\":[],\"waiters\":[],\"new_member\":1}\n");
}

TEST_F(Gatectl, ExplainsWhatStandsOnTheCommandLine) {
  admin_.answer("POST /v1/explain", 200,
                R"({"verdict":"none","statements":[{"sql":"select 1","verdict":"none"}]})");
  EXPECT_EQ(run({"explain", "select 1", "--schema", "app"}), exit_code::done);
  expect_said(console_.out, {"select 1", "verdict     none"});
  ASSERT_EQ(admin_.requests().size(), 1u);
  EXPECT_EQ(admin_.requests()[0].body(), R"({"sql":"select 1","schema":"app"})");
}

TEST_F(Gatectl, ExplainsWhatComesFromStandardInput) {
  admin_.answer("POST /v1/explain", 200, R"({"verdict":"none","statements":[]})");
  console_.in.str("select\n2");
  EXPECT_EQ(run({"-o", "json", "explain", "-"}), exit_code::done);
  EXPECT_EQ(admin_.requests()[0].body(), R"({"sql":"select\n2"})");
  EXPECT_EQ(console_.out.str(), "{\"verdict\":\"none\",\"statements\":[]}\n");
}

TEST_F(Gatectl, AnExplanationThatIsRefusedIsReported) {
  admin_.answer("POST /v1/explain", 400, error_body("malformed_json"));
  EXPECT_EQ(run({"explain", "x"}), exit_code::refused);
  expect_said(console_.err, {"what happened"});
}

TEST_F(Gatectl, WatchesUntilInterrupted) {
  admin_.answer("GET /v1/pins", 200, R"({"holders":[],"waiters":[]})");
  console_.interrupt_after_pauses = 2;
  EXPECT_EQ(run({"pins", "-w"}), exit_code::done);
  EXPECT_EQ(admin_.request_count("GET /v1/pins"), 3u);
}

TEST_F(Gatectl, KeepsWatchingThroughTrouble) {
  admin_.answer("GET /v1/status", 200, shadow_status);
  admin_.answer("GET /v1/status", 0, "");
  admin_.answer("GET /v1/status", 503, error_body("down"));
  admin_.answer("GET /v1/status", 200, R"({"ledger":{"mode":"ledger"}})");
  console_.interrupt_after_pauses = 3;
  EXPECT_EQ(run({"status", "-w"}), exit_code::done);
  expect_said(console_.out, {"shadow", "trying again", "what happened", "mode        ledger"});
}

TEST_F(Gatectl, SaysWhatToDoWhenNobodyListens) {
  const exit_code code = run_gatectl(
      {"--admin", "http://127.0.0.1:1", "status"}, [](const char*) { return std::nullopt; },
      console_.terminal);
  EXPECT_EQ(code, exit_code::refused);
  expect_said(console_.err, {"cannot connect to http://127.0.0.1:1", "does the sidecar run"});
}

TEST_F(Gatectl, SaysSoWhenItIsNotAnAdminPort) {
  admin_.answer("GET /v1/status", 200, "<html>");
  EXPECT_EQ(run({"status"}), exit_code::refused);
  expect_said(console_.err, {"does not answer in JSON", "is this the admin port"});
}

TEST_F(Gatectl, AsksOverAUnixSocket) {
  const std::string path = folder_.file("admin.sock");
  scripted_server<boost::asio::local::stream_protocol> unix_admin{
      boost::asio::local::stream_protocol::endpoint(path)};
  unix_admin.answer("GET /v1/status", 200, shadow_status);
  const exit_code code = run_gatectl(
      {"--admin", "unix:" + path, "status"}, [](const char*) { return std::nullopt; }, console_.terminal);
  EXPECT_EQ(code, exit_code::done);
}

TEST_F(Gatectl, ReportsUsageWithItsOwnCode) {
  EXPECT_EQ(run({"flip"}), exit_code::usage);
  EXPECT_EQ(run({"install"}), exit_code::usage);
  EXPECT_TRUE(admin_.requests().empty());
}

TEST_F(Gatectl, FlipsAndFollowsToTheEnd) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 200, queued);
  admin_.answer(look, 200, committed);
  const std::string token = folder_.write("token", "s3cret\n");
  EXPECT_EQ(run({"flip", "ledger", "--yes", "--token-file", token, "--from", "shadow", "--deadline", "5s",
                 "--reason", "r"}),
            exit_code::done);
  expect_said(console_.out, {"planned\n", "queued, attempt 1\n", "the mode is ledger (was shadow)"});
  const auto requests = admin_.requests();
  EXPECT_EQ(requests.at(0)[http::field::authorization], "Bearer s3cret");
  EXPECT_EQ(requests.at(0)[http::field::content_type], "application/json");
  EXPECT_EQ(sent_body(),
            boost::json::parse(R"({"to":"ledger","from":"shadow","deadline":"5s","reason":"r"})"));
}

TEST_F(Gatectl, RedrawsItsProgressOnATerminal) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 200, queued);
  admin_.answer(look, 200, committed);
  console_.terminal.out_is_terminal = true;
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::done);
  expect_said(console_.out, {"\x1b[", "Ctrl-C stops watching", "the mode is ledger"});
}

TEST_F(Gatectl, PrintsOnlyTheFinalResourceAsJson) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 200, committed);
  EXPECT_EQ(run({"flip", "ledger", "--yes", "-o", "json"}), exit_code::done);
  EXPECT_EQ(boost::json::parse(console_.out.str()), boost::json::parse(committed));
}

TEST_F(Gatectl, IsDoneWhenTheModeIsThereAlready) {
  admin_.answer(post, 200, R"({"id":"t-1","state":"committed","changed":false,"to":"ledger"})");
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::done);
  expect_said(console_.out, {"the mode is ledger already"});
}

TEST_F(Gatectl, TellsAnAbortFromARefusal) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 200, R"({"id":"t-1","state":"aborted","reason":"deadline"})");
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::aborted);
  expect_said(console_.out, {"the mode is unchanged", "deadline"});
}

TEST_F(Gatectl, ReportsEveryRefusalAsUntouched) {
  const std::pair<unsigned, const char*> refusals[] = {
      {400, "unknown_mode"},       {403, "token_missing"},       {403, "token_wrong"},
      {409, "transition_running"}, {412, "precondition_failed"}, {503, "database_unavailable"}};
  for (const auto& [status, code] : refusals) {
    scripted_admin admin;
    test_console fixture;
    admin.answer(post, status, error_body(code));
    EXPECT_EQ(run_gatectl(
                  {"--admin", admin.url(), "flip", "ledger", "--yes"},
                  [](const char*) { return std::nullopt; }, fixture.terminal),
              exit_code::refused)
        << code;
    expect_said(fixture.err, {std::string("what happened [") + code + "]\n  "});
  }
}

TEST_F(Gatectl, SaysWhereTheTokenComesFrom) {
  admin_.answer(post, 403, error_body("token_missing"));
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::refused);
  expect_said(console_.err, {"--token-file", "GATECTL_TOKEN_FILE"});
}

TEST_F(Gatectl, ShowsTheServersWordsInARefusal) {
  admin_.answer(
      post, 503,
      error_body("database_unavailable", R"(,"server_error":{"sqlstate":"42501","message":"denied"})"));
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::refused);
  expect_said(console_.err, {"42501: denied"});
}

TEST_F(Gatectl, NeverCallsALostAnswerARefusal) {
  admin_.answer(post, 0, "");
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::unknown);
  expect_said(console_.err, {"may be carried out", "gatectl status"});
}

TEST_F(Gatectl, NeverCallsALateAnswerARefusal) {
  admin_.answer(post, 504, error_body("no_answer_in_time"));
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::unknown);
}

TEST_F(Gatectl, FollowsThroughALostConnection) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 0, "");
  admin_.answer(look, 200, committed);
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::done);
  expect_said(console_.out, {"trying again"});
}

TEST_F(Gatectl, GivesUpOnALostConnectionWithoutGuessing) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 0, "");
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::unknown);
  expect_said(console_.err, {"the outcome is not known here"});
}

TEST_F(Gatectl, WaitsForAnUnknownOutcomeToResolve) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 200, R"({"id":"t-1","state":"unknown"})");
  admin_.answer(look, 200, R"({"id":"t-1","state":"unknown"})");
  admin_.answer(look, 200, committed);
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::done);
}

TEST_F(Gatectl, LeavesAnUnknownOutcomeUnknown) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 200, R"({"id":"t-1","state":"unknown"})");
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::unknown);
  expect_said(console_.out, {"unknown", "the connection was lost during the commit"});
}

TEST_F(Gatectl, DoesNotGuessWhenTheSidecarForgot) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 404, error_body("no_such_transition"));
  admin_.answer("GET /v1/status", 200, R"({"ledger":{"mode":"ledger"}})");
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::unknown);
  expect_said(console_.err, {"no longer knows the transition t-1", "the mode is ledger now"});
}

TEST_F(Gatectl, DetachesOnCtrlC) {
  admin_.answer(post, 202, planned);
  admin_.answer(look, 200, queued);
  console_.interrupt_after_pauses = 2;
  EXPECT_EQ(run({"flip", "ledger", "--yes"}), exit_code::unknown);
  expect_said(console_.err, {"stopped watching; the transition t-1 goes on", "gatectl status -w"});
}

TEST_F(Gatectl, RefusesToAskWhereNobodyCanAnswer) {
  EXPECT_EQ(run({"flip", "ledger"}), exit_code::usage);
  expect_said(console_.err, {"--yes"});
  EXPECT_TRUE(admin_.requests().empty());
}

TEST_F(Gatectl, RefusesToAskInTheMiddleOfJson) {
  at_a_terminal("ledger\n");
  EXPECT_EQ(run({"flip", "ledger", "-o", "json"}), exit_code::usage);
  EXPECT_TRUE(admin_.requests().empty());
}

TEST_F(Gatectl, SendsTheModeThatTheOperatorSaw) {
  at_a_terminal(" ledger \n");
  admin_.answer("GET /v1/status", 200, shadow_status);
  admin_.answer(post, 202, planned);
  admin_.answer(look, 200, committed);
  EXPECT_EQ(run({"flip", "ledger"}), exit_code::done);
  expect_said(console_.out, {"mode now    shadow   version 731", "3 pins held", "Type the target mode"});
  EXPECT_EQ(sent_body(), boost::json::parse(R"({"to":"ledger","from":"shadow"})"));
}

TEST_F(Gatectl, TouchesNothingWhenSomethingElseIsTyped) {
  for (const char* typed : {"", "\n", "shadow\n", "Ledger\n", "yes\n"}) {
    test_console fixture;
    fixture.terminal.in_is_terminal = true;
    fixture.in.str(typed);
    admin_.answer("GET /v1/status", 200, shadow_status);
    EXPECT_EQ(run_gatectl(
                  {"--admin", admin_.url(), "flip", "ledger"}, [](const char*) { return std::nullopt; },
                  fixture.terminal),
              exit_code::refused)
        << typed;
    expect_said(fixture.err, {"nothing was touched"});
  }
  EXPECT_EQ(admin_.request_count(post), 0u);
}

TEST_F(Gatectl, DoesNotAskForWhatIsThereAlready) {
  at_a_terminal("");
  admin_.answer("GET /v1/status", 200, R"({"ledger":{"mode":"ledger"}})");
  EXPECT_EQ(run({"flip", "ledger"}), exit_code::done);
  EXPECT_EQ(admin_.request_count(post), 0u);
}

TEST_F(Gatectl, NamesATokenFileItCannotUse) {
  EXPECT_EQ(run({"flip", "ledger", "--yes", "--token-file", folder_.file("none")}), exit_code::refused);
  expect_said(console_.err, {"cannot read the token file", "No such file"});
  EXPECT_EQ(run({"flip", "ledger", "--yes", "--token-file", folder_.file(".")}), exit_code::refused);
  EXPECT_EQ(run({"flip", "ledger", "--yes", "--token-file", folder_.write("empty", "\n")}),
            exit_code::refused);
  EXPECT_EQ(run({"flip", "ledger", "--yes", "--token-file", folder_.write("two", "a\nb\n")}),
            exit_code::refused);
  expect_said(console_.err, {"is empty", "one line of text"});
  EXPECT_TRUE(admin_.requests().empty());
}

} // namespace
} // namespace ledgergate::ctl
