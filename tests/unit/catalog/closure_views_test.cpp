#include <gtest/gtest.h>

#include "tests/unit/catalog/sample_catalog.hpp"

namespace ledgergate::test {
namespace {

TEST(ClosureOfConfiguredTables, IsWhatTheRulesSay) {
  const auto report = sample_catalog().closure();
  EXPECT_EQ(accesses_of(report, "ledger"), "rsliudt");
  EXPECT_EQ(accesses_of(report, "balances"), "-sliudt");
  EXPECT_EQ(accesses_of(report, "users"), "---iudt");
  EXPECT_EQ(accesses_of(report, "mode_control"), "rsLIUDT");
  EXPECT_EQ(columns_of(report, "users", closure_access::update), std::vector<std::string>{"kudos"});
}

TEST(ClosureOfViews, TakesWhatTheTableBelowHas) {
  sample_catalog catalog;
  catalog.view("postings", {catalog.ledger});
  catalog.view("balance_list", {catalog.balances});
  const auto report = catalog.closure();
  EXPECT_EQ(accesses_of(report, "postings"), "rsliud-");
  EXPECT_EQ(accesses_of(report, "balance_list"), "-sliud-");
}

TEST(ClosureOfViews, FollowsViewsOverViews) {
  sample_catalog catalog;
  const object_id first = catalog.view("first", {catalog.ledger});
  const object_id second = catalog.view("second", {first});
  catalog.view("third", {catalog.table("other"), second});
  EXPECT_EQ(accesses_of(catalog.closure(), "third"), "rsliud-");
}

TEST(ClosureOfViews, LeavesViewsOverOtherTablesAlone) {
  sample_catalog catalog;
  catalog.view("job_list", {catalog.table("jobs")});
  EXPECT_EQ(accesses_of(catalog.closure(), "job_list"), "");
}

TEST(ClosureOfViews, WritesThroughAViewOfTheControlRowAreTransitions) {
  sample_catalog catalog;
  catalog.view("mode_view", {catalog.control});
  EXPECT_EQ(accesses_of(catalog.closure(), "mode_view"), "rsLIUD-");
}

TEST(ClosureOfViews, RowLocksInsideAViewAreTakenByItsReaders) {
  sample_catalog catalog;
  catalog.view("locking", {catalog.balances});
  catalog.rows.rules.back().commands = "1L";
  EXPECT_EQ(accesses_of(catalog.closure(), "locking")[0], 'r');
}

TEST(ClosureOfViews, KnowsUnderWhichNameAViewShowsAGatedColumn) {
  sample_catalog catalog;
  const object_id shown = catalog.view("profile", {catalog.users});
  catalog.rows.view_columns = {{shown, "bio", catalog.users, "bio"},
                               {shown, "credit", catalog.users, "kudos"}};
  const object_id above = catalog.view("public_profile", {shown});
  catalog.rows.view_columns.push_back({above, "points", shown, "credit"});
  const auto report = catalog.closure();
  EXPECT_EQ(columns_of(report, "profile", closure_access::update), std::vector<std::string>{"credit"});
  EXPECT_EQ(columns_of(report, "public_profile", closure_access::update), std::vector<std::string>{"points"});
}

TEST(ClosureOfViews, AViewThatDoesNotShowTheGatedColumnCannotAssignIt) {
  sample_catalog catalog;
  const object_id shown = catalog.view("names", {catalog.users});
  catalog.rows.view_columns = {{shown, "bio", catalog.users, "bio"}};
  EXPECT_EQ(accesses_of(catalog.closure(), "names"), "-----d-");
}

TEST(ClosureOfViews, WithoutColumnsToGoByEveryWriteThroughAViewTouches) {
  sample_catalog catalog;
  catalog.view("profile", {catalog.users});
  const auto report = catalog.closure();
  EXPECT_EQ(accesses_of(report, "profile"), "---iud-");
  EXPECT_TRUE(columns_of(report, "profile", closure_access::update).empty());
}

TEST(ClosureOfMaterializedViews, ReadingAndRefreshingTouch) {
  sample_catalog catalog;
  catalog.view("totals", {catalog.ledger}, 'm');
  const std::string accesses = accesses_of(catalog.closure(), "totals");
  EXPECT_EQ(accesses[0], 'r');
  EXPECT_EQ(accesses[3], 'i');
}

TEST(ClosureOfRules, DoingOneThingDoesTheOther) {
  sample_catalog catalog;
  const object_id requests = catalog.table("requests");
  const object_id rule = catalog.next_oid();
  catalog.rows.rules.push_back({rule, requests, "also", '3', 'O', "3"});
  catalog.depends(object_class::rule, rule, object_class::relation, catalog.ledger);
  EXPECT_EQ(accesses_of(catalog.closure(), "requests"), "---i---");
}

TEST(ClosureOfRules, ADisabledRuleDoesNothing) {
  sample_catalog catalog;
  const object_id requests = catalog.table("requests");
  const object_id rule = catalog.next_oid();
  catalog.rows.rules.push_back({rule, requests, "also", '3', 'D', "3"});
  catalog.depends(object_class::rule, rule, object_class::relation, catalog.ledger);
  EXPECT_EQ(accesses_of(catalog.closure(), "requests"), "");
}

TEST(ClosureOfPartitions, ThePartitionsOfAGatedTableAreGated) {
  sample_catalog catalog;
  catalog.partition_of(catalog.partition_of(catalog.ledger, "ledger_2026"), "ledger_2026_01");
  EXPECT_EQ(accesses_of(catalog.closure(), "ledger_2026_01"), "rsliudt");
}

TEST(ClosureOfPartitions, TheParentOfAGatedPartitionIsGated) {
  sample_catalog catalog;
  const object_id parent = catalog.table("all_postings", 'p');
  catalog.rows.relations[0].is_partition = true;
  catalog.rows.inheritance.push_back({catalog.ledger, parent});
  EXPECT_EQ(accesses_of(catalog.closure(), "all_postings"), "rsliudt");
}

TEST(ClosureOfPartitions, AnUpdateOfTheKeyIsAnInsertElsewhere) {
  sample_catalog catalog;
  const object_id parent = catalog.table("deeds", 'p');
  catalog.rows.relations.back().partition_key = {"day"};
  const object_id child = catalog.partition_of(parent, "deeds_1");
  catalog.trigger(child, catalog.function("pay", "insert into ledger values (1);"), on_insert);
  const auto report = catalog.closure();
  EXPECT_EQ(accesses_of(report, "deeds"), "---iu--");
  EXPECT_EQ(columns_of(report, "deeds", closure_access::update), std::vector<std::string>{"day"});
}

TEST(ClosureOfInheritance, AnInsertDoesNotGoToInheritingTables) {
  sample_catalog catalog;
  const object_id parent = catalog.table("all_postings");
  catalog.rows.inheritance.push_back({catalog.ledger, parent});
  EXPECT_EQ(accesses_of(catalog.closure(), "all_postings"), "rsl-udt");
}

TEST(ClosureOfForeignTables, OneWhoseOptionsNameAGatedTableMayComeBackToIt) {
  sample_catalog catalog;
  catalog.table("far_ledger", 'f');
  catalog.rows.relations.back().foreign_options = "schema_name=app table_name=ledger";
  catalog.table("far_jobs", 'f');
  catalog.rows.relations.back().foreign_options = "table_name=jobs";
  const auto report = catalog.closure();
  EXPECT_EQ(accesses_of(report, "far_ledger"), "rsliudt");
  EXPECT_EQ(accesses_of(report, "far_jobs"), "");
}

TEST(ClosureOfViews, ATriggerInsteadOfAWriteCountsForTheView) {
  sample_catalog catalog;
  const object_id list = catalog.view("job_list", {catalog.table("jobs")});
  catalog.trigger(list, catalog.function("f", "begin delete from ledger; return old; end"), on_delete | 64);
  EXPECT_EQ(accesses_of(catalog.closure(), "job_list"), "-----d-");
}

TEST(ClosureOfSchemas, ARuleThatNamesASchemaGatesNoOther) {
  catalog::catalog_rows rows;
  rows.relations.push_back({20000, "app", "vault", 'r', false, false, {}, {}});
  rows.relations.push_back({20001, "finance", "vault", 'r', false, false, {}, {}});
  config::settings settings;
  settings.gate.tables = {{"finance", "vault", config::pin_on::any, {}}};
  const auto report = catalog::make_closure(rows, settings);
  ASSERT_EQ(report.closure->relations.size(), 1U);
  EXPECT_EQ(report.closure->relations[0].schema, "finance");
}

} // namespace
} // namespace ledgergate::test
