#include "proxy/admin/json_render.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "tests/unit/admin/fake_backend.hpp"

namespace ledgergate::admin {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using transition::transition_state;

const transition::wall_time some_time{1'800'000'000'123ms};

std::string at(const json::object& object, const char* pointer) {
  json::error_code ec;
  const json::value whole = object;
  const json::value* found = whole.find_pointer(pointer, ec);
  return found == nullptr ? std::string("nothing at ") + pointer : json::serialize(*found);
}

TEST(JsonRender, WritesTimesInUtcWithMilliseconds) {
  EXPECT_EQ(to_rfc3339(some_time), "2027-01-15T08:00:00.123Z");
  EXPECT_EQ(to_rfc3339(transition::wall_time{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339(transition::wall_time{-1ms}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(to_rfc3339(transition::wall_time{1709164799999ms}), "2024-02-28T23:59:59.999Z");
  EXPECT_EQ(to_rfc3339(transition::wall_time{1709164800000ms}), "2024-02-29T00:00:00.000Z");
}

TEST(JsonRender, RunsOnlyTheDeadlineWhileItWaitsForQuiet) {
  auto record = planned_record(some_time);
  record.state = transition_state::waiting_quiet;
  const auto out = render_transition(record, some_time + 10s);
  EXPECT_EQ(at(out, "/clocks/deadline"), R"({"total_ms":30000,"left_ms":20000})");
  EXPECT_EQ(at(out, "/clocks/queue"), "null");
  EXPECT_EQ(at(out, "/clocks/hold"), "null");
  EXPECT_EQ(at(out, "/changed"), "null");
  EXPECT_EQ(at(out, "/result"), "null");
}

TEST(JsonRender, RunsBothClocksWhileItIsQueued) {
  auto record = planned_record(some_time);
  record.state = transition_state::queued;
  record.attempts.push_back({.queued_at = some_time + 2s,
                             .queue_wait = 0us,
                             .pins_waiting_max = 4,
                             .outcome = transition::attempt_outcome::waiting,
                             .error = {}});
  const auto out = render_transition(record, some_time + 2s + 120ms);
  EXPECT_EQ(at(out, "/clocks/queue"), R"({"total_ms":500,"left_ms":380})");
  EXPECT_EQ(at(out, "/clocks/deadline/left_ms"), "27880");
  EXPECT_EQ(at(out, "/attempts/0/number"), "1");
  EXPECT_EQ(at(out, "/attempts/0/pins_waiting_max"), "4");
  EXPECT_EQ(at(render_transition(record, some_time + 9s), "/clocks/queue/left_ms"), "0");
}

TEST(JsonRender, RunsOnlyTheHoldClockWhileItHolds) {
  auto record = planned_record(some_time);
  record.state = transition_state::holding;
  record.state_since = some_time + 1s;
  const auto out = render_transition(record, some_time + 1500ms);
  EXPECT_EQ(at(out, "/clocks/hold"), R"({"total_ms":5000,"left_ms":4500})");
  EXPECT_EQ(at(out, "/clocks/deadline"), "null");
}

TEST(JsonRender, ShowsACommittedChangeWithItsNewVersion) {
  auto record = planned_record(some_time);
  record.state = transition_state::committed;
  record.changed = true;
  record.version_after = "732";
  record.finished_at = some_time + 1s;
  record.timings.queue_wait = 12'600us;
  const auto out = render_transition(record, some_time + 1min);
  EXPECT_EQ(at(out, "/result"), R"({"outcome":"committed","changed":true,"mode":"ledger","version":"732"})");
  EXPECT_EQ(at(out, "/timings/queue_wait"), "13");
  EXPECT_EQ(at(out, "/finished_at"), "\"2027-01-15T08:00:01.123Z\"");
  EXPECT_EQ(at(out, "/clocks/deadline"), "null");
}

TEST(JsonRender, ShowsAnAbortedTransitionWithItsReasonAndTheServersWords) {
  auto record = planned_record(some_time);
  record.state = transition_state::aborted;
  record.reason = transition::abort_reason::deadline;
  record.error = transition::server_error{"55P03", "canceling statement due to lock timeout", "", ""};
  const auto out = render_transition(record, some_time);
  EXPECT_EQ(at(out, "/state"), "\"aborted\"");
  EXPECT_EQ(at(out, "/reason"), "\"deadline\"");
  EXPECT_EQ(at(out, "/changed"), "false");
  EXPECT_EQ(at(out, "/result"), R"({"outcome":"aborted","changed":false,"mode":"shadow","version":"731"})");
  EXPECT_EQ(at(out, "/server_error/sqlstate"), "\"55P03\"");
  EXPECT_EQ(at(out, "/server_error/hint"), "null");
}

TEST(JsonRender, NeverGuessesAnUnknownOutcome) {
  auto record = planned_record(some_time);
  record.state = transition_state::unknown;
  const auto out = render_transition(record, some_time);
  EXPECT_EQ(at(out, "/state"), "\"unknown\"");
  EXPECT_EQ(at(out, "/changed"), "null");
  EXPECT_EQ(at(out, "/result"), R"({"outcome":"unknown","changed":null,"mode":null,"version":null})");
}

TEST(JsonRender, EchoesTheRequestWithItsDurations) {
  auto record = planned_record(some_time);
  record.request.deadline = 90s;
  record.request.queue_budget = 250ms;
  record.request.reason = "week 49";
  const auto out = render_transition(record, some_time);
  EXPECT_EQ(at(out, "/request"), R"({"to":"ledger","from":null,"expect_version":null,"reason":"week 49",)"
                                 R"("queue_budget":"250ms","deadline":"90s",)"
                                 R"("request_id":null,"rehearse":false,"requested_by":null})");
}

TEST(JsonRender, ShowsHoldersAndWaitersWithTheirSidecar) {
  transition::pin_snapshot report;
  report.observed_at = some_time;
  transition::gate_lock holder;
  holder.pid = 4711;
  holder.backend_start = some_time - 1h;
  holder.application = "worker";
  holder.client_address = "10.0.0.7";
  holder.state = "idle in transaction";
  holder.transaction_age = 1'234'600us;
  holder.query = "update kudos_ledger set ..";
  holder.sidecar = "ledgergate/0.1.0@web-1";
  transition::gate_lock prepared;
  prepared.prepared_gid = "tx-1";
  report.holders = {holder, prepared};
  transition::gate_lock waiter;
  waiter.pid = 4712;
  waiter.wait = 40ms;
  report.waiters = {waiter};
  const auto out = render_pins(report);
  EXPECT_EQ(at(out, "/holders/0/pid"), "4711");
  EXPECT_EQ(at(out, "/holders/0/backend_start"), "\"2027-01-15T07:00:00.123Z\"");
  EXPECT_EQ(at(out, "/holders/0/age_ms"), "1235");
  EXPECT_EQ(at(out, "/holders/0/sidecar"), "\"ledgergate/0.1.0@web-1\"");
  EXPECT_EQ(at(out, "/holders/0/state"), "\"idle in transaction\"");
  EXPECT_EQ(at(out, "/holders/1/pid"), "null");
  EXPECT_EQ(at(out, "/holders/1/prepared_gid"), "\"tx-1\"");
  EXPECT_EQ(at(out, "/holders/1/sidecar"), "null");
  EXPECT_EQ(at(out, "/waiters/0/wait_ms"), "40");
  EXPECT_EQ(at(out, "/held"), "2");
  EXPECT_EQ(at(out, "/waiting"), "1");
}

TEST(JsonRender, ShowsTheStatusWithWhatIsNotKnownAsNull) {
  status_report report;
  report.version = "0.1.0";
  report.started_at = some_time - 90s;
  report.lock_key = 0x4B55444D;
  report.database = "horde";
  report.upstream = "127.0.0.1:5432";
  const auto unknown = render_status(report, {}, {}, some_time);
  EXPECT_EQ(at(unknown, "/uptime_ms"), "90000");
  EXPECT_EQ(at(unknown, "/gate"), R"({"mode":"enforce","database":"horde","lock_key":"0x4B55444D"})");
  EXPECT_EQ(at(unknown, "/ledger"), R"({"mode":null,"version":null,"modes":[],"since":null,"observed_at":null})");
  EXPECT_EQ(at(unknown, "/pins"), R"({"held":0,"waiting":0,"oldest_age_ms":null})");
  EXPECT_EQ(at(unknown, "/catalog/age_ms"), "null");
  EXPECT_EQ(at(unknown, "/transition"), "null");

  report.mode = "shadow";
  report.mode_version = "731";
  report.oldest_pin_age = 15ms;
  report.upstream_error = "connection refused";
  report.sidecars = {{"ledgergate/0.1.0@web-1", "0.1.0", "web-1", std::nullopt, some_time}};
  const auto known = render_status(report, planned_record(some_time), {}, some_time);
  EXPECT_EQ(at(known, "/ledger/version"), "\"731\"");
  EXPECT_EQ(at(known, "/pins/oldest_age_ms"), "15");
  EXPECT_EQ(at(known, "/upstream/reachable"), "false");
  EXPECT_EQ(at(known, "/transition/to"), "\"ledger\"");
  EXPECT_EQ(at(known, "/sidecars/0/name"), "\"ledgergate/0.1.0@web-1\"");
}

} // namespace
} // namespace ledgergate::admin
