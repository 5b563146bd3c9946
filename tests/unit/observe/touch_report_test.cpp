#include "proxy/observe/touch_report.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ledgergate::observe {
namespace {

using namespace std::chrono_literals;

observed_statement seen(const std::string& statement, const std::string& application = "app") {
  observed_statement made;
  made.user = "horde";
  made.application = application;
  made.statement = statement;
  return made;
}

TEST(TouchReport, TextsThatDifferInConstantsAreOneStatement) {
  touch_report report;
  EXPECT_EQ(report.add(seen("select 1 from kudos_ledger")), report.add(seen("select  2 from kudos_ledger")));
  EXPECT_NE(report.add(seen("select 1 from kudos_ledger")), report.add(seen("select 1 from users")));
  EXPECT_NE(report.add(seen("select 1 from users")), report.add(seen("select 1 from users", "other")));
  const auto all = report.get();
  ASSERT_EQ(all.statements.size(), 3U);
  EXPECT_EQ(all.statements[0].executions, 3U);
  EXPECT_EQ(all.statements[0].statement, "select ? from kudos_ledger");
}

TEST(TouchReport, TheLongestUnderThePinComesFirst) {
  touch_report report;
  const auto fast = report.add(seen("select from a"));
  const auto slow = report.add(seen("select from b"));
  report.over(fast, 1ms);
  report.over(slow, 5ms);
  report.over(slow, 2ms);
  const auto all = report.get();
  EXPECT_EQ(all.statements[0].statement, "select from b");
  EXPECT_EQ(all.statements[0].pins, 2U);
  EXPECT_EQ(all.statements[0].pinned, 7ms);
  EXPECT_EQ(all.statements[0].longest, 5ms);
}

TEST(TouchReport, IsBoundedAndSaysWhatFoundNoRoom) {
  touch_report report;
  for (std::size_t i = 0; i < touch_report::max_statements; ++i)
    EXPECT_NE(report.add(seen("select from t" + std::to_string(i) + "x")), touch_report::left_out);
  EXPECT_EQ(report.add(seen("select from one_too_many")), touch_report::left_out);
  report.over(touch_report::left_out, 1ms);
  EXPECT_NE(report.add(seen("select from t0x")), touch_report::left_out);
  EXPECT_EQ(report.get().left_out, 1U);
}

} // namespace
} // namespace ledgergate::observe
