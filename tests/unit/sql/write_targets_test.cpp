#include "proxy/sql/write_targets.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ledgergate::sql {
namespace {

std::string seen(std::string_view body) {
  const auto found = accesses_in(body, "control");
  if (!found) return "unknown";
  std::string text;
  if (found->insert) text += 'i';
  if (found->update) text += 'u';
  if (found->remove) text += 'd';
  if (found->truncate) text += 't';
  if (found->lock_for_writing) text += 'l';
  if (found->lock_for_reading) text += 's';
  return text;
}

TEST(WriteTargets, ReadingTheTableBesideWritesOfOthersChangesNothing) {
  EXPECT_EQ(seen("BEGIN SELECT mode INTO seen FROM control WHERE id = 1; INSERT INTO ledger VALUES (1);"
                 " UPDATE users SET kudos = 1; DELETE FROM other; END"),
            "");
  EXPECT_EQ(seen("INSERT INTO ledger SELECT mode FROM control"), "");
  EXPECT_EQ(seen("UPDATE ledger SET mode = c.mode FROM control c"), "");
  EXPECT_EQ(seen("DELETE FROM ledger USING control"), "");
  EXPECT_EQ(seen("MERGE INTO ledger USING control ON true WHEN MATCHED THEN DO NOTHING"), "");
}

TEST(WriteTargets, FindsTheTargetOfEveryWrite) {
  EXPECT_EQ(seen("IF x THEN INSERT INTO control VALUES (1); END IF"), "i");
  EXPECT_EQ(seen("insert into public . control values (1) on conflict do update set a = 1"), "iu");
  EXPECT_EQ(seen("UPDATE control SET mode = 'ledger'"), "u");
  EXPECT_EQ(seen("UPDATE ONLY \"public\".\"control\" SET mode = 'ledger'"), "u");
  EXPECT_EQ(seen("update /* why */ Control set mode = 'ledger'"), "u");
  EXPECT_EQ(seen("DELETE FROM ONLY control"), "d");
  EXPECT_EQ(seen("MERGE INTO control USING x ON true WHEN MATCHED THEN DELETE"), "iud");
  EXPECT_EQ(seen("TRUNCATE TABLE a, control"), "t");
  EXPECT_EQ(seen("WITH gone AS (DELETE FROM control RETURNING 1) SELECT count(*) FROM gone"), "d");
  EXPECT_EQ(seen("LOCK TABLE control"), "l");
}

TEST(WriteTargets, RowLocksCountForEveryTableOfTheirStatement) {
  EXPECT_EQ(seen("SELECT 1 FROM control FOR UPDATE"), "l");
  EXPECT_EQ(seen("SELECT 1 FROM control FOR NO KEY UPDATE"), "l");
  EXPECT_EQ(seen("SELECT 1 FROM control FOR KEY SHARE"), "s");
  EXPECT_EQ(seen("SELECT 1 FROM control FOR SHARE; SELECT 1 FROM other FOR UPDATE"), "s");
}

TEST(WriteTargets, ANameInAStringOrAQuoteThatIsNeverClosedShowsNothing) {
  EXPECT_EQ(seen("EXECUTE 'UPDATE control SET mode = 1'"), "unknown");
  EXPECT_EQ(seen("PERFORM run($q$update Control set mode = 1$q$)"), "unknown");
  EXPECT_EQ(seen("SELECT 1 FROM control; SELECT 'never closed"), "unknown");
  EXPECT_EQ(seen("UPDATE U&\"\\0063ontrol\" SET mode = 1"), "unknown");
}

TEST(WriteTargets, OtherNamesAreOtherTables) {
  EXPECT_EQ(seen("UPDATE control_log SET a = 1; UPDATE \"Control\" SET a = 1"), "");
}

} // namespace
} // namespace ledgergate::sql
