#include "proxy/observe/json_line.hpp"

#include <gtest/gtest.h>

namespace ledgergate::observe {
namespace {

TEST(JsonLine, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(json_escaped("say \"a\\b\"\n\t\r\x01"), "say \\\"a\\\\b\\\"\\n\\t\\r\\u0001");
}

TEST(JsonLine, LeavesValidUtf8Alone) {
  const std::string text = "Gr\xC3\xBC\xC3\x9F"
                           "e \xE2\x82\xAC \xF0\x9F\x98\x80";
  EXPECT_EQ(json_escaped(text), text);
}

TEST(JsonLine, ReplacesBytesThatAreNoUtf8) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(json_escaped("a\xFFz"), "a" + mark + "z");
  EXPECT_EQ(json_escaped("cut \xE2\x82"), "cut " + mark + mark);
  EXPECT_EQ(json_escaped("\xC0\xAF"), mark + mark) << "an overlong slash";
  EXPECT_EQ(json_escaped("\xED\xA0\x80"), mark + mark + mark) << "a surrogate";
}

} // namespace
} // namespace ledgergate::observe
