#include "config/units.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

#include "config/ranges.hpp"

namespace ledgergate::config {
namespace {

using namespace std::chrono_literals;

constexpr duration_range wide_durations{0ms, 10min};
constexpr size_range wide_sizes{0, std::size_t{1} << 40};

template <typename Value>
struct form_case {
  const char* text;
  std::optional<Value> expected;
};

template <typename Value, typename Parse>
void expect_forms(const std::vector<form_case<Value>>& cases, Parse parse) {
  for (const auto& one : cases) {
    SCOPED_TRACE(one.text);
    const auto result = parse(one.text);
    ASSERT_EQ(result.has_value(), one.expected.has_value());
    if (one.expected) {
      EXPECT_EQ(*result, *one.expected);
    } else {
      EXPECT_NE(result.error().message.find(" from "), std::string::npos) << "names no range";
    }
  }
}

TEST(Duration, IsDigitsAndAUnitAndNothingElse) {
  expect_forms<std::chrono::milliseconds>(
      {{"500ms", 500ms}, {"2s", 2s},   {"1m", 1min},  {"0s", 0s},   {"0ms", 0s}, {"600s", 10min},
       {"007s", 7s},     {"", {}},     {"5", {}},     {"s", {}},    {"5 s", {}}, {" 5s", {}},
       {"5s ", {}},      {"-5s", {}},  {"+5s", {}},   {"1.5s", {}}, {"5S", {}},  {"5sec", {}},
       {"5us", {}},      {"0x5s", {}}, {"1m30s", {}}, {"off", {}}},
      [](std::string_view text) { return parse_duration(text, wide_durations); });
}

TEST(Duration, IncludesBothEndsOfItsRangeAndNothingBeyond) {
  expect_forms<std::chrono::milliseconds>(
      {{"99ms", {}}, {"100ms", 100ms}, {"10m", 10min}, {"600001ms", {}}, {"600000ms", 10min}, {"1h", {}}},
      [](std::string_view text) { return parse_duration(text, ranges::deadline); });
}

TEST(Duration, ThatOverflowsIsOutOfRange) {
  expect_forms<std::chrono::milliseconds>(
      {{"18446744073709551615ms", {}},
       {"18446744073709551616ms", {}},
       {"307445734561825861m", {}},
       {"5124095576030432h", {}},
       {"99999999999999999999999999s", {}}},
      [](std::string_view text) { return parse_duration(text, wide_durations); });
}

TEST(Duration, ErrorSaysRangeAndForm) {
  EXPECT_EQ(parse_duration("1d", ranges::deadline).error().message,
            "must be a duration from 100ms to 10m, written like 500ms, 2s or 1m");
}

TEST(Size, IsDigitsAndABinaryUnit) {
  expect_forms<std::size_t>({{"64KiB", 65536},
                             {"16MiB", 16777216},
                             {"1GiB", 1073741824},
                             {"512B", 512},
                             {"0B", 0},
                             {"", {}},
                             {"64", {}},
                             {"64K", {}},
                             {"64KB", {}},
                             {"64kib", {}},
                             {"1.5MiB", {}},
                             {"-1MiB", {}},
                             {"KiB", {}},
                             {"17179869184GiB", {}},
                             {"18014398509481984KiB", {}}},
                            [](std::string_view text) { return parse_size(text, wide_sizes); });
}

TEST(Size, IncludesBothEndsOfItsRangeAndNothingBeyond) {
  expect_forms<std::size_t>(
      {{"65535B", {}}, {"64KiB", 65536}, {"1024MiB", 1073741824}, {"1073741825B", {}}},
      [](std::string_view text) { return parse_size(text, ranges::max_buffered_statement); });
}

TEST(LockKey, IsDecimalOrHexWithinSixtyFourSignedBits) {
  expect_forms<std::int64_t>({{"0", 0},
                              {"42", 42},
                              {"-1", -1},
                              {"0x4B55444D", 1263879245},
                              {"0x4b55444d", 1263879245},
                              {"0X2A", 42},
                              {"0x4B55445245434F", 21204375179707215},
                              {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
                              {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
                              {"0x7FFFFFFFFFFFFFFF", std::numeric_limits<std::int64_t>::max()},
                              {"9223372036854775808", {}},
                              {"-9223372036854775809", {}},
                              {"0x8000000000000000", {}},
                              {"0xFFFFFFFFFFFFFFFFF", {}},
                              {"", {}},
                              {"-", {}},
                              {"--1", {}},
                              {"0x", {}},
                              {"0x-1", {}},
                              {"-0x1", {}},
                              {"0xG", {}},
                              {"017", {}},
                              {"1_000", {}},
                              {"1e3", {}},
                              {"4B55444D", {}},
                              {"+1", {}},
                              {"KUDM", {}},
                              {" 1", {}}},
                             parse_key);
}

TEST(LockNamespace, IsDecimalOrHexWithinThirtyTwoSignedBits) {
  expect_forms<std::int32_t>({{"0x4B554452", 1263879250},
                              {"2147483647", 2147483647},
                              {"-2147483648", INT32_MIN},
                              {"0x7FFFFFFF", 2147483647},
                              {"2147483648", {}},
                              {"-2147483649", {}},
                              {"0x80000000", {}},
                              {"0x4B55445245434F", {}},
                              {"x", {}}},
                             parse_key_part);
}

TEST(Number, IsDecimalWithinItsRange) {
  expect_forms<std::int64_t>(
      {{"1", 1}, {"65535", 65535}, {"0", {}}, {"65536", {}}, {"-1", {}}, {"0x10", {}}, {"1.0", {}}, {"", {}}},
      [](std::string_view text) { return parse_number(text, ranges::port); });
}

TEST(Units, AreWrittenInTheShortestFormThatReadsBack) {
  EXPECT_EQ(format_duration(0ms), "0s");
  EXPECT_EQ(format_duration(500ms), "500ms");
  EXPECT_EQ(format_duration(1500ms), "1500ms");
  EXPECT_EQ(format_duration(30s), "30s");
  EXPECT_EQ(format_duration(600s), "10m");
  EXPECT_EQ(format_duration(3600s), "1h");
  EXPECT_EQ(format_size(0), "0B");
  EXPECT_EQ(format_size(1000), "1000B");
  EXPECT_EQ(format_size(65536), "64KiB");
  EXPECT_EQ(format_size(std::size_t{16} << 20), "16MiB");
  EXPECT_EQ(format_key(1263879245), "0x4B55444D");
  EXPECT_EQ(format_key(0), "0x0");
  EXPECT_EQ(format_key(-7), "-7");
  EXPECT_EQ(format_key(std::numeric_limits<std::int64_t>::max()), "0x7FFFFFFFFFFFFFFF");
}

} // namespace
} // namespace ledgergate::config
