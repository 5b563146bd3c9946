// Rows of the server into values: pins, control row, standbys.
#include "proxy/transition/rows.hpp"

#include <gtest/gtest.h>

#include "tests/unit/transition/engine_script.hpp"

namespace ledgergate::transition {
namespace {

TEST(PinRows, AreHoldersAndWaitersWithTheirAges) {
  auto holder = pin("77", "3.25");
  auto waiter = pin("78", "1.5");
  waiter[1] = "f";
  waiter[12] = "0.75";
  auto transition = pin("79", "0.5");
  transition[0] = "ExclusiveLock";
  transition[1] = "f";
  const auto snapshot = read_pins(rows({holder, waiter, transition}), wall_time{});
  ASSERT_EQ(snapshot.holders.size(), 1u);
  ASSERT_EQ(snapshot.waiters.size(), 2u);
  EXPECT_EQ(snapshot.pins_held(), 1u);
  EXPECT_EQ(snapshot.pins_waiting(), 1u);
  EXPECT_EQ(snapshot.oldest_pin_age(), 3250ms);
  EXPECT_EQ(snapshot.longest_pin_wait(), 750ms);
  EXPECT_EQ(snapshot.waiters[1].hold, gate_hold::exclusive);
  const auto& lock = snapshot.holders[0];
  EXPECT_EQ(lock.pid, 77);
  EXPECT_EQ(lock.user, "app");
  EXPECT_EQ(lock.application, "psql");
  EXPECT_EQ(lock.client_address, "127.0.0.1");
  EXPECT_EQ(lock.client_port, 5000);
  EXPECT_EQ(lock.state, "idle in transaction");
  EXPECT_EQ(lock.query, "INSERT INTO x");
  EXPECT_EQ(lock.backend_start, wall_time(1700000000500ms));
  EXPECT_FALSE(lock.waits_for_applier);
}

TEST(PinRows, OfAPreparedTransactionHaveNoBackend) {
  sql_row row(15);
  row[0] = "ShareLock";
  row[1] = "t";
  row[3] = "settle-17";
  row[10] = "60";
  const auto snapshot = read_pins(rows({row}), wall_time{});
  ASSERT_EQ(snapshot.holders.size(), 1u);
  EXPECT_FALSE(snapshot.holders[0].pid);
  EXPECT_EQ(snapshot.holders[0].prepared_gid, "settle-17");
  EXPECT_EQ(snapshot.oldest_pin_age(), 60s);
}

TEST(PinRows, ASessionLevelHoldOutsideATransactionIsAsOldAsItsState) {
  auto row = pin("77", "1");
  row[10] = std::nullopt;
  row[11] = "9";
  const auto snapshot = read_pins(rows({row}), wall_time{});
  EXPECT_EQ(snapshot.oldest_pin_age(), 9s);
}

TEST(PinRows, AreNeverYoungerThanNothing) {
  const auto snapshot = read_pins(rows({pin("77", "-0.002")}), wall_time{});
  EXPECT_EQ(snapshot.oldest_pin_age(), 0us);
}

TEST(PinRows, WithGarbageAreReadAsUnknown) {
  auto row = pin("not a pid", "soon");
  row[8] = "99999999999999999999";
  row.resize(12);
  const auto snapshot = read_pins(rows({row}), wall_time{});
  ASSERT_EQ(snapshot.holders.size(), 1u);
  EXPECT_FALSE(snapshot.holders[0].pid);
  EXPECT_FALSE(snapshot.holders[0].client_port);
  EXPECT_FALSE(snapshot.holders[0].age());
  EXPECT_FALSE(snapshot.holders[0].query);
}

TEST(ControlRow, HasItsModeAndVersion) {
  const auto row = read_control_row(rows({{"shadow", "700", "900"}}));
  EXPECT_EQ(row.row_count, 1u);
  EXPECT_EQ(row.mode, "shadow");
  EXPECT_EQ(row.version, "700");
  EXPECT_EQ(row.xmin, 700u);
  EXPECT_EQ(read_control_row(rows({})).row_count, 0u);
}

TEST(ControlRow, ResolvesTheEpochOfItsTransaction) {
  constexpr std::uint64_t epoch = std::uint64_t{1} << 32;
  // The next transaction is number 100 of epoch 3: a row with 99 is of this epoch, one with 4000000000 of the
  // last.
  const std::string next = std::to_string(3 * epoch + 100);
  EXPECT_EQ(read_control_row(rows({{"shadow", "99", next}})).xmin, 3 * epoch + 99);
  EXPECT_EQ(read_control_row(rows({{"shadow", "4000000000", next}})).xmin, 2 * epoch + 4000000000);
}

TEST(MissingStandby, IsSeenBeforeTheCommitWouldHang) {
  struct test_case {
    const char* names;
    const char* commit;
    const char* connected;
    const char* invisible;
    bool missing;
  };
  for (const auto& c : {
           test_case{"", "on", "0", "0", false},
           test_case{"a", "on", "0", "0", true},
           test_case{"a", "on", "1", "0", false},
           test_case{"a", "local", "0", "0", false},
           test_case{"a", "off", "0", "0", false},
           test_case{"*", "remote_apply", "0", "0", true},
           test_case{"2 (a, b, c)", "on", "1", "0", true},
           test_case{"FIRST 2 (a, b, c)", "on", "2", "0", false},
           test_case{"ANY 2 (s1, s2)", "on", "1", "0", true},
           test_case{"a", "on", "0", "1", false},
           test_case{"s1, s2", "on", "1", "0", false},
       }) {
    const auto found = missing_standby(rows({{c.names, c.commit, c.connected, c.invisible}}));
    EXPECT_EQ(found.has_value(), c.missing) << c.names << " " << c.commit << " " << c.connected;
  }
}

} // namespace
} // namespace ledgergate::transition
