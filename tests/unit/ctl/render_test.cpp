#include "proxy/ctl/render.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "tests/unit/ctl/scripted_admin.hpp"

namespace ledgergate::ctl {
namespace {

using boost::json::parse;

void expect_in(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

const char* const running =
    R"({"id":"t-1","state":"queued","message":"waits in the queue","from":"shadow","to":"ledger",
  "clocks":{"deadline":{"total_ms":30000,"left_ms":15000},"queue":{"total_ms":500,"left_ms":50},"hold":null},
  "attempts":[{"number":1},{"number":2}],"timings":{"max_writer_wait":80},"pins_waiting":3,
  "blockers":[{"hold":"pin","pid":4711,"application":"worker","state":"idle in transaction","age_ms":2300,
               "client_address":"10.0.0.7","client_port":4000,"query":"update"}]})";

TEST(RenderProgress, ShowsStateBothClocksWritersAndBlockers) {
  expect_in(plain(render_progress(parse(running))),
            {"shadow -> ledger   t-1", "queued   attempt 2", "waits in the queue",
             "deadline    [############............]  15.0 s of 30.0 s left",
             "queue       [##......................]  50 ms of 500 ms left",
             "3 waiting, longest wait so far 80 ms", "1 holder of the gate", "4711", "2.3 s",
             "idle in transaction", "worker", "10.0.0.7:4000"});
}

TEST(RenderProgress, ShowsTheHoldClockWhileItHolds) {
  expect_in(plain(render_progress(parse(R"({"state":"holding","clocks":{"deadline":null,
              "hold":{"total_ms":5000,"left_ms":5000}}})"))),
            {"hold        [########################]  5.0 s of 5.0 s left", "deadline    not running"});
}

TEST(RenderProgress, FitsOnOneLineForAPipe) {
  EXPECT_EQ(progress_line(parse(running)),
            "queued, attempt 2, deadline in 15.0 s, queue budget 50 ms, 3 writers wait, "
            "1 blocker (pid 4711 for 2.3 s, idle in transaction, worker)");
  EXPECT_EQ(progress_line(parse(R"({"state":"planned"})")), "planned");
  EXPECT_EQ(progress_line(parse(R"({"state":"waiting_quiet","blockers":[{"prepared_gid":"tx"}]})")),
            "waiting_quiet, 1 blocker (prepared tx)");
}

TEST(RenderOutcome, SaysWhatWasCommittedAndWhatItCost) {
  expect_in(plain(render_outcome(
                parse(R"({"id":"t-1","state":"committed","changed":true,"from":"shadow","to":"ledger",
              "version_after":"732","attempts":[{}],
              "timings":{"queue_wait":12,"hold":4,"total":1200,"max_writer_wait":9}})"))),
            {"the mode is ledger (was shadow), version 732",
             "1 attempt, queue wait 12 ms, hold 4 ms, total 1.2 s, longest writer wait 9 ms"});
}

TEST(RenderOutcome, SaysThatNothingHadToBeDone) {
  EXPECT_EQ(plain(render_outcome(parse(R"({"state":"committed","changed":false,"to":"ledger"})"))),
            "done        the mode is ledger already\n");
}

TEST(RenderOutcome, SaysThatAnAbortChangedNothingAndWhatToDo) {
  expect_in(plain(render_outcome(parse(R"({"state":"aborted","reason":"guard","message":"the guard said no",
              "from":"shadow","to":"ledger",
              "server_error":{"sqlstate":"P0001","message":"not balanced","detail":"3 users",
              "hint":null}})"))),
            {"the mode is unchanged, reason: guard", "the guard said no", "P0001: not balanced", "3 users",
             "next"});
  for (const char* reason : {"deadline", "step", "harm", "cancelled", "conflict"}) {
    expect_in(plain(render_outcome(parse(std::string(R"({"state":"aborted","reason":")") + reason + "\"}"))),
              {std::string("reason: ") + reason, "next        "});
  }
}

TEST(RenderOutcome, NeverCallsTheUnknownAFailure) {
  const std::string text = plain(render_outcome(parse(R"({"state":"unknown"})")));
  expect_in(text, {"unknown"});
  EXPECT_EQ(text.find("fail"), std::string::npos) << text;
  EXPECT_EQ(text.find("unchanged"), std::string::npos) << text;
}

TEST(RenderStatus, ShowsModePinsTransitionAndHealth) {
  const auto status = parse(std::string(R"({"version":"0.1.0","uptime_ms":3600000,
    "gate":{"mode":"enforce","database":"horde","lock_key":"0x4B55444D"},
    "ledger":{"mode":"shadow","version":"731"},
    "pins":{"held":3,"waiting":1,"oldest_age_ms":1500},"clients":{"connected":12,"limit":1000},
    "upstream":{"address":"127.0.0.1:5432","reachable":false,"error":"connection refused"},
    "control":{"connected":false,"error":"no password"},"catalog":{"age_ms":2000},
    "last_transition":{"state":"aborted","reason":"deadline","from":"shadow","to":"ledger",
    "finished_at":"2026-01-01"},
    "sidecars":[{"name":"ledgergate/0.1.0@a"},{"name":"ledgergate/0.1.0@b"}],"transition":)") +
                            running + "}");
  expect_in(plain(render_status(status)),
            {"mode        shadow   version 731", "3 held, 1 waiting, oldest 1.5 s", "queued   attempt 2",
             "shadow -> ledger aborted (deadline)  2026-01-01", "enforce, database horde, key 0x4B55444D",
             "127.0.0.1:5432  connection refused", "not connected: no password", "12 of 1000",
             "read 2.0 s ago", "ledgergate/0.1.0@b", "ledgergate 0.1.0, up 1 h 00 m"});
}

TEST(RenderStatus, SaysWhatIsNotKnown) {
  expect_in(
      plain(render_status(parse(R"({"ledger":{"mode":null},"transition":null,"gate":{"mode":"observe"}})"))),
      {"not known", "none runs", "observe (counts, pins nothing)"});
  expect_in(plain(render_status(parse(R"({"gate":{"mode":"off"}})"))), {"off (plain relay)"});
}

TEST(RenderCatalog, ListsNamesReasonsAndWhatCannotBeSeen) {
  const std::string text =
      plain(render_catalog(parse(R"({"enabled":true,"generation":3,"age_ms":1500,"names":1,
     "error":null,"gated":[{"kind":"view","schema":"app","name":"list","ways":[{"accesses":["read","update"],
     "verdict":"touch","columns":["paid"],"why":["view over app.ledger","configured, pin_on: any"]}]}],
     "unseen":[{"kind":"function","schema":"app","name":"built","why":"runs SQL"}]})")));
  expect_in(text, {"generation 3, known to be current 1.5 s ago", "1 name is gated", "view app.list",
                   "read, update (paid): touch", "view over app.ledger", "configured, pin_on: any",
                   "function app.built: runs SQL"});
}

TEST(RenderCatalog, SaysThatItIsNotInUseOrWasNeverRead) {
  expect_in(plain(render_catalog(parse(R"({"enabled":false})"))), {"not in use"});
  expect_in(plain(render_catalog(parse(R"({"enabled":true,"generation":0,"error":"no route"})"))),
            {"known to be current never", "no route"});
}

TEST(RenderExplanation, ShowsVerdictPathAndPin) {
  const std::string statement = R"({"sql":"delete from\naccounts","verdict":"touch","reason":"catalog",
     "name":"accounts","access":"delete","paths":[{"kind":"table","name":"app.accounts","why":["foreign key"]}],
     "pin":{"autocommit":"as_extended","in_transaction":"inline","extended":"none"}})";
  const std::string one = R"({"verdict":"touch","statements":[)" + statement + "]}";
  expect_in(plain(render_explanation(parse(one))),
            {"delete from accounts", "touch, by catalog accounts (delete)", "table app.accounts",
             "foreign key",
             "as extended in autocommit, inline in a transaction, - in the extended protocol"});
  const std::string two =
      R"({"verdict":"transition","pin":{"autocommit":"denied","hint":"go there"},"statements":[)" +
      statement + R"(,{"sql":"x","verdict":"none"}]})";
  expect_in(plain(render_explanation(parse(two))), {"as one text", "denied in autocommit", "go there"});
}

TEST(RenderExplanation, ShowsWhereATextCannotBeRead) {
  expect_in(plain(render_explanation(parse(R"({"verdict":"touch","unreadable":{"message":"syntax error",
     "position":13}})"))),
            {"since it cannot be read and may touch", "syntax error, at character 13"});
  expect_in(plain(render_explanation(parse(R"({"verdict":"none","statements":[]})"))),
            {"there is no statement"});
}

TEST(RenderPins, ListsHoldersAndWaitersWithoutSilentColumns) {
  const std::string text = plain(render_pins(parse(R"({"holders":[
     {"hold":"pin","pid":1,"age_ms":10,"state":"active","application":"a\u001b[2J","query":"select"},
     {"hold":"pin","pid":null,"prepared_gid":"tx-1","age_ms":99},
     {"hold":"pin","pid":2,"waits_for_applier":true,"state":"active"}],
     "waiters":[{"hold":"exclusive","pid":3,"wait_ms":40,"state":"active"}]})")));
  expect_in(text, {"3 holders of the gate", "prepared tx-1", "waits for the applier", "a [2J", "1 waiter",
                   "exclusive", "40 ms", "local"});
  EXPECT_EQ(text.find("SIDECAR"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(RenderPins, LimitsALongList) {
  const auto locks = parse(R"([{"pid":1},{"pid":2},{"pid":3}])");
  expect_in(plain(render_gate_locks(locks.get_array(), 2, "")), {"1", "2", "and 1 more"});
}

} // namespace
} // namespace ledgergate::ctl
