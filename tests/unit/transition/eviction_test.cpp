// evict_idle_after: who has been idle for long enough, and what the engine does about it.
#include "proxy/transition/idle_holders.hpp"
#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

const time_point start{std::chrono::hours(1)};

gate_lock holder(std::int32_t pid, const char* state, std::chrono::milliseconds state_age) {
  gate_lock lock;
  lock.pid = pid;
  lock.backend_start = wall_time(std::chrono::seconds(1'700'000'000 + pid));
  lock.state = state;
  lock.state_age = state_age;
  return lock;
}

std::vector<std::int32_t> pids_of(const std::vector<gate_lock>& locks) {
  std::vector<std::int32_t> pids;
  for (const auto& lock : locks)
    pids.push_back(*lock.pid);
  return pids;
}

using pids = std::vector<std::int32_t>;

TEST(IdleHolders, AreDueOnceTheyHaveBeenIdleForLongEnough) {
  idle_holders idle;
  const std::vector<gate_lock> seen{holder(1, "idle in transaction", 4999ms),
                                    holder(2, "idle in transaction (aborted)", 5000ms),
                                    holder(3, "active", 1min), holder(4, "idle", 6s)};
  EXPECT_EQ(pids_of(idle.due(seen, start, 5s)), (pids{2, 4}));
}

TEST(IdleHolders, AreNamedOnceForOneIdleness) {
  idle_holders idle;
  EXPECT_EQ(pids_of(idle.due({holder(1, "idle in transaction", 6s)}, start, 5s)), pids{1});
  EXPECT_EQ(pids_of(idle.due({holder(1, "idle in transaction", 7s)}, start + 1s, 5s)), pids{});
  // Busy in between, and idle anew.
  EXPECT_EQ(pids_of(idle.due({holder(1, "idle in transaction", 1s)}, start + 10s, 5s)), pids{});
  EXPECT_EQ(pids_of(idle.due({holder(1, "idle in transaction", 5s)}, start + 14s, 5s)), pids{1});
}

TEST(IdleHolders, AnotherBackendOfTheSamePidIsAnother) {
  idle_holders idle;
  auto lock = holder(1, "idle in transaction", 6s);
  EXPECT_EQ(pids_of(idle.due({lock}, start, 5s)), pids{1});
  *lock.backend_start += std::chrono::hours(1);
  EXPECT_EQ(pids_of(idle.due({lock}, start + 1s, 5s)), pids{1});
}

TEST(IdleHolders, ABatchThatWasNeverSyncedCountsFromWhenItWasFirstSeen) {
  idle_holders idle;
  auto lock = holder(1, "active", 10min);
  lock.waits_for_client = true;
  EXPECT_EQ(pids_of(idle.due({lock}, start, 5s)), pids{}) << "it may have run until a moment ago";
  EXPECT_EQ(pids_of(idle.due({lock}, start + 4s, 5s)), pids{});
  EXPECT_EQ(pids_of(idle.due({lock}, start + 5s, 5s)), pids{1});
}

TEST(IdleHolders, APreparedTransactionHasNobodyToEnd) {
  idle_holders idle;
  gate_lock lock;
  lock.prepared_gid = "left behind";
  lock.state_age = 1h;
  EXPECT_TRUE(idle.due({lock}, start, 5s).empty());
}

sql_result idle_pin(const std::string& seconds) { return pins({pin("77", seconds)}); }

TEST(Eviction, EndsAnIdleHolderWhileItWaitsAndRecordsIt) {
  auto settings = script_settings();
  settings->transitions.evict_idle_after = 5s;
  engine_script script(to_ledger(), settings);
  script.connect();
  script.answer("pg_try_advisory_lock", slot());
  script.answer("BEGIN", control());
  script.answer("pg_advisory_xact_lock(1263879247", done());
  script.answer("pg_stat_replication", idle_pin("4.9"));
  EXPECT_TRUE(script.evictions().empty());
  script.fire();
  script.answer("pg_stat_replication", idle_pin("5.4"));
  ASSERT_EQ(script.evictions().size(), 1u);
  const auto& wanted = script.evictions()[0];
  EXPECT_EQ(wanted.holder.pid, 77);
  EXPECT_NE(wanted.text.find("pg_terminate_backend(a.pid)"), std::string::npos);
  EXPECT_NE(wanted.text.find("1700000000.500000::pg_catalog.numeric"), std::string::npos) << wanted.text;
  script.send(event::evicted{wanted.holder, "ended"});
  ASSERT_EQ(script.record().evictions.size(), 1u);
  EXPECT_EQ(script.record().evictions[0].outcome, "ended");
  EXPECT_EQ(script.record().evictions[0].holder.pid, 77);
}

TEST(Eviction, HappensInTheQueueToo) {
  auto settings = script_settings();
  settings->transitions.evict_idle_after = 1s;
  engine_script script(to_ledger(), settings);
  script.go_to_queue();
  pin_snapshot seen;
  seen.holders = {holder(88, "idle in transaction", 1s)};
  script.send(event::pins_observed{seen});
  ASSERT_EQ(script.evictions().size(), 1u);
  EXPECT_EQ(script.evictions()[0].holder.pid, 88);
}

TEST(Eviction, IsOffUnlessConfigured) {
  engine_script script;
  script.go_to_queue();
  pin_snapshot seen;
  seen.holders = {holder(88, "idle in transaction", 1h)};
  script.send(event::pins_observed{seen});
  EXPECT_TRUE(script.evictions().empty());
}

} // namespace
} // namespace ledgergate::transition
