// The files under deploy/examples are what an operator starts from, so they are loaded as they stand.
#include <gtest/gtest.h>

#include <algorithm>

#include "config/describe.hpp"
#include "config/load.hpp"

namespace ledgergate::config {
namespace {

load_result load_example(const std::string& name) { return load_file(std::string{LG_EXAMPLES} + "/" + name); }

TEST(Examples, MinimalIsAcceptedAndLeavesTheRestToTheDefaults) {
  const auto value = load_example("minimal.yaml");
  ASSERT_TRUE(value.has_value()) << to_string(value.error());
  EXPECT_EQ(value->gate.database, "bank");
  EXPECT_EQ(value->gate.tables.size(), 1U);
  EXPECT_FALSE(value->given.contains("transitions"));
}

TEST(Examples, HordeGatesTheLedgerFullyAndTheFoldedBalancesByTheirLocks) {
  const auto value = load_example("horde.yaml");
  ASSERT_TRUE(value.has_value()) << to_string(value.error());
  EXPECT_EQ(value->gate.lock_key, 1263879245);
  EXPECT_EQ(value->gate.applier_lock_key, 1263879247);
  EXPECT_EQ(value->gate.pin_before_locks, std::vector<std::int32_t>{1263879250});
  EXPECT_EQ(value->control_row.table, "kudos_ledger_control");
  EXPECT_EQ(value->control_row.changed_at_column, "changed_at");
  EXPECT_EQ(value->modes, (std::vector<std::string>{"shadow", "ledger"}));
  const auto rule_of = [&](const std::string& name) {
    const auto& tables = value->gate.tables;
    const auto rule =
        std::find_if(tables.begin(), tables.end(), [&](const auto& one) { return one.name == name; });
    return rule == tables.end() ? std::optional<enum pin_on>{} : rule->on;
  };
  for (const char* name :
       {"kudos_ledger", "kudos_stat_events", "kudos_reservations", "kudos_balance_snapshots"}) {
    EXPECT_EQ(rule_of(name), pin_on::any) << name;
  }
  for (const char* name : {"users", "user_stats", "user_records", "workers", "worker_stats", "teams"}) {
    EXPECT_EQ(rule_of(name), pin_on::lock) << name;
  }
}

TEST(Examples, HordeIsShownInFullAndReadBack) {
  const auto value = load_example("horde.yaml");
  ASSERT_TRUE(value.has_value()) << to_string(value.error());
  const auto again = load_text(describe(*value), "shown");
  ASSERT_TRUE(again.has_value()) << to_string(again.error());
  EXPECT_EQ(again->gate.tables, value->gate.tables);
}

} // namespace
} // namespace ledgergate::config
