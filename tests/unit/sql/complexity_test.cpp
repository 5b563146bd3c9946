#include "proxy/sql/complexity.hpp"

#include <string>

#include <gtest/gtest.h>

namespace ledgergate::sql {
namespace {

std::string repeated(std::string_view part, std::size_t count) {
  std::string result;
  while (count-- > 0)
    result += part;
  return result;
}

TEST(Complexity, DepthDoesNotGrowWithTheLengthOfAList) {
  const std::size_t few = measure("select * from t where x in (1,2,3)").depth;
  EXPECT_EQ(measure("select * from t where x in (1" + repeated(",2", 5000) + ")").depth, few);
  const std::size_t one = measure("insert into t values (1, 'a', 2.5)").depth;
  EXPECT_EQ(measure("insert into t values (1, 'a', 2.5)" + repeated(", (1, 'a', 2.5)", 5000)).depth, one);
  EXPECT_EQ(measure("select 1 where a = 1" + repeated(" or a = 2 and b = 3", 5000)).depth,
            measure("select 1 where a = 1 or a = 2 and b = 3").depth);
  EXPECT_EQ(measure("select 1" + repeated("; select 1", 5000)).depth, measure("select 1").depth);
}

// Each of these makes the parser's tree at least one level deeper per repetition.
TEST(Complexity, DepthGrowsWithEveryConstructThatNests) {
  constexpr std::size_t count = 300;
  const std::pair<std::string, std::string> wrapped[] = {
      {"(", ")"},
      {"(select ", ")"},
      {"f(", ")"},
      {"array[", "]"},
      {"case when 1 then ", " end"},
      {"case when x and y then 1 else ", " end"},
      {"not ", ""},
      {"- ", ""},
      {"+", ""},
      {"1 + ", ""},
      {"exists (select ", ")"},
      {"", "::int"},
      {"", " is null"},
      {"", " collate c"},
      {"x and (y or ", ")"},
      {"row(", ")"},
      {"f(x) filter (where ", ")"},
  };
  for (const auto& [before, after] : wrapped) {
    const std::string text = "select " + repeated(before, count) + "1" + repeated(after, count);
    EXPECT_GE(measure(text).depth, count) << before << " .. " << after;
  }
  EXPECT_GE(measure("select 1, 2" + repeated(" union select 1, 2", count)).depth, count);
  EXPECT_GE(measure("select 1 from a" + repeated(" join b on x and y", count)).depth, count);
  EXPECT_GE(measure(repeated("with a as (", count) + "select 1" + repeated(") select 1", count)).depth,
            count);
}

TEST(Complexity, BracketsInStringsAndCommentsDoNotCount) {
  const std::size_t plain = measure("select 'x', 1").depth;
  EXPECT_EQ(measure("select '" + repeated("(", 3000) + "', /*" + repeated("(", 3000) + "*/ 1").depth, plain);
  // Closing brackets in a string must not hide what is open.
  EXPECT_GT(measure("select " + repeated("(')' || ", 3000)).depth, max_depth);
  EXPECT_GT(measure("select " + repeated("(E'\\')' || ", 3000)).depth, max_depth);
  EXPECT_GT(measure("select " + repeated("($a$)$a$ || ", 3000)).depth, max_depth);
}

TEST(Complexity, ClosingMoreThanWasOpenedIsHarmless) {
  EXPECT_LT(measure(repeated(")", 5000) + repeated("]", 5000) + repeated(" end", 3)).depth, 6000U);
  EXPECT_LT(measure("case end end end ) ) ]").depth, 20U);
}

TEST(Complexity, WorkStopsAtTheLimit) { EXPECT_GT(measure(repeated("(", 10'000'000)).depth, max_depth); }

TEST(Complexity, MultiColumnAssignmentIsCountedOncePerColumn) {
  const std::string plain = "update t set a = 1, b = 2, c = 3";
  EXPECT_EQ(measure(plain).expanded_bytes, plain.size());
  const std::string multi = "update t set (a, b, c) = (1, 2, 3)";
  EXPECT_EQ(measure(multi).expanded_bytes, 3 * multi.size());
  const std::string second = "update t set x = 1, (a, b) = (select 1, 2)";
  EXPECT_EQ(measure(second).expanded_bytes, 2 * second.size());
  const std::string comparison = "select 1 where (a, b) = (1, 2)";
  EXPECT_EQ(measure(comparison).expanded_bytes, comparison.size());
  EXPECT_EQ(measure(multi + ";" + plain).expanded_bytes, 3 * multi.size() + plain.size() + 1);
}

TEST(Complexity, NestedMultiColumnAssignmentsMultiply) {
  const std::size_t levels = 40;
  const std::string text =
      repeated("with q as (update t set (a, b) = (", levels) + "1" + repeated(")) select 1", levels);
  EXPECT_GT(measure(text).expanded_bytes, max_expanded_bytes);
}

} // namespace
} // namespace ledgergate::sql
