// The audit table: when an entry is written, and what is read back.
#include "proxy/transition/history.hpp"

#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

/// From the start until the text behind the change is waiting for its answer.
void go_to_seal(engine_script& script, bool audited) {
  script.connect();
  script.answer("pg_try_advisory_lock", slot());
  script.answer("BEGIN", control("shadow", "700", audited));
  script.answer("pg_advisory_xact_lock(1263879247", done());
  script.answer("pg_stat_replication", pins());
  script.go_to_hold();
  script.answer("UPDATE", change_of());
}

TEST(AuditTable, HasAnEntryInTheTransactionOfTheChange) {
  auto request = to_ledger();
  request.reason = "it's time";
  request.request_id = "deploy-7";
  request.requested_by = "127.0.0.1:5";
  engine_script script(request);
  go_to_seal(script, true);
  for (const char* part : {"INSERT INTO ledgergate.transitions", "'it''s time'", "'deploy-7'",
                           "'shadow', 'ledger'", "'700', '801'", "'127.0.0.1:5'"})
    EXPECT_NE(script.waiting_text()->find(part), std::string::npos)
        << part << " in " << *script.waiting_text();
  script.pass(30ms);
  script.answer("SET CONSTRAINTS", done("SET"));
  script.answer("COMMIT", committed());
  EXPECT_NE(script.waiting_text()->find("SET hold_us = 30000"), std::string::npos) << *script.waiting_text();
  script.answer("pg_advisory_unlock", failed("42501"));
  EXPECT_EQ(script.state(), transition_state::committed) << "what it cost is no condition";
  EXPECT_TRUE(script.record().recorded);
}

TEST(AuditTable, IsNotWrittenWhereItWasNotInstalled) {
  engine_script script;
  go_to_seal(script, false);
  EXPECT_EQ(script.waiting_text()->find("ledgergate.transitions"), std::string::npos);
  script.finish_from_seal();
  EXPECT_FALSE(script.record().recorded);
}

TEST(AuditTable, AChangeThatCannotBeRecordedIsNotMade) {
  engine_script script;
  go_to_seal(script, true);
  script.answer("INSERT INTO ledgergate.transitions", failed("42501"));
  script.answer("ROLLBACK", slot());
  EXPECT_EQ(script.record().reason, abort_reason::step);
  EXPECT_FALSE(script.record().recorded);
}

TEST(AuditTable, IsReadBackAsRecords) {
  const auto entries = read_history(
      rows({{"t-1", "deploy-7", "shadow", "ledger", "700", "801", "ledgergate/1.0@a", "127.0.0.1:5", "why",
             "1700000000.5", "1700000001.25", "2", "1", "2", "3", "4", "5", std::nullopt}}));
  ASSERT_EQ(entries.size(), 1u);
  const auto& entry = entries[0];
  EXPECT_EQ(entry.id, "t-1");
  EXPECT_EQ(entry.request.request_id, "deploy-7");
  EXPECT_EQ(entry.from, "shadow");
  EXPECT_EQ(entry.to, "ledger");
  EXPECT_EQ(entry.version_after, "801");
  EXPECT_EQ(entry.sidecar, "ledgergate/1.0@a");
  EXPECT_EQ(entry.state, transition_state::committed);
  EXPECT_TRUE(entry.changed);
  EXPECT_TRUE(entry.recorded);
  EXPECT_EQ(entry.finished_at.value() - entry.started_at, 750ms);
  EXPECT_EQ(entry.attempts.size(), 2u);
  EXPECT_EQ(entry.timings.total, 5us);
  EXPECT_EQ(entry.timings.max_writer_wait, 0us) << "an entry that was not completed";
}

} // namespace
} // namespace ledgergate::transition
