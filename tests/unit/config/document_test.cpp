#include "config/document.hpp"

#include <gtest/gtest.h>

namespace ledgergate::config {
namespace {

TEST(Document, KeepsOrderPlacesQuotesAndDuplicates) {
  const auto top = parse_document("a: 1\nb:\n  - \"2\"\n  - ~\na: {c: x}\n");
  ASSERT_TRUE(top.has_value());
  ASSERT_EQ(top->children.size(), 3U);
  const node& first = top->children[0];
  EXPECT_EQ(first.key, "a");
  EXPECT_EQ(first.text, "1");
  EXPECT_FALSE(first.quoted);
  EXPECT_EQ(first.at, (position{1, 4}));
  const node& list = top->children[1];
  EXPECT_EQ(list.kind, node_kind::list);
  EXPECT_EQ(list.at, (position{2, 1}));
  ASSERT_EQ(list.children.size(), 2U);
  EXPECT_TRUE(list.children[0].quoted);
  EXPECT_EQ(list.children[0].at, (position{3, 5}));
  EXPECT_EQ(list.children[1].kind, node_kind::null);
  EXPECT_EQ(top->children[2].key, "a");
  EXPECT_EQ(top->children[2].kind, node_kind::map);
}

TEST(Document, WithoutContentIsAnEmptyMap) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n", "null\n"}) {
    SCOPED_TRACE(text);
    const auto top = parse_document(text);
    ASSERT_TRUE(top.has_value());
    EXPECT_EQ(top->kind, node_kind::map);
    EXPECT_TRUE(top->children.empty());
  }
}

TEST(Document, FollowsAliases) {
  const auto top = parse_document("a: &x {k: v}\nb: *x\n");
  ASSERT_TRUE(top.has_value());
  EXPECT_EQ(top->children[1].children[0].text, "v");
  EXPECT_EQ(top->children[1].at, (position{2, 1}));
}

TEST(Document, RefusesWhatIsNotOnePlainMapping) {
  struct refused_case {
    const char* name;
    std::string text;
    position at;
    const char* message;
  };
  std::string doubling = "a0: &a0 [x, x]\n";
  for (int level = 1; level < 25; ++level) {
    const auto before = std::to_string(level - 1);
    const auto now = std::to_string(level);
    doubling += "a" + now + ": &a" + now + " [*a" + before + ", *a" + before + "]\n";
  }
  const std::vector<refused_case> cases{
      {"an open list", "a: [1,\nb: 2", {2, 1}, "is not valid YAML"},
      {"two colons", "a: 1\nb: c: d", {2, 5}, "is not valid YAML"},
      {"a tab as indent", "a:\n\t- b\n", {2, 2}, "is not valid YAML"},
      {"an alias to nothing", "a: *x", {1, 4}, "is not valid YAML"},
      {"two documents", "a: 1\n---\nb: 2\n", {2, 1}, "one YAML document"},
      {"a line with less indentation than the first", "  a: 1\nb: 2\n", {2, 1}, "one YAML document"},
      {"text after a list, of which yaml-cpp makes endless documents",
       "[a], b\n",
       {1, 4},
       "one YAML document"},
      {"a bracket that was never opened", "a: 1\n]\n", {2, 1}, "is not valid YAML"},
      {"a list at the top", "- a\n", {1, 1}, "must be a mapping"},
      {"a text at the top", "hello\n", {1, 1}, "must be a mapping"},
      {"a list as a key", "? [a]\n: b\n", {1, 3}, "a key must be a word"},
      {"a tag", "a: !secret b\n", {1, 4}, "tags are not supported: !secret"},
      {"a NUL in a text", "a: \"b\\0c\"\n", {1, 4}, "NUL"},
      {"a byte that is not UTF-8", "a: b\nc: \xC3(\n", {2, 4}, "UTF-8"},
      {"an overlong UTF-8 form", "a: \xE0\x80\xAF\n", {1, 4}, "UTF-8"},
      {"a surrogate in UTF-8", "a: \xED\xA0\x80\n", {1, 4}, "UTF-8"},
      {"a UTF-8 character cut off", "a: \xF0\x9F\x98", {1, 4}, "UTF-8"},
      {"an alias to what it stands in", "a: &x [*x]\n", {1, 7}, "by aliases"},
      {"aliases that double", doubling, {1, 9}, "by aliases"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    const auto top = parse_document(one.text);
    ASSERT_FALSE(top.has_value());
    EXPECT_NE(top.error().message.find(one.message), std::string::npos) << top.error().message;
    EXPECT_GT(top.error().at.line, 0);
    // Where the limit is hit is yaml-cpp's walk and not a promise.
    if (std::string_view{one.message} != "by aliases") {
      EXPECT_EQ(top.error().at, one.at) << top.error().at.column;
    }
  }
}

TEST(Document, NestedBeyondReasonIsAnErrorAndNotAnOverflow) {
  for (const std::size_t depth : {40U, 1'000U, 100'000U}) {
    const auto top = parse_document("a: " + std::string(depth, '[') + std::string(depth, ']'));
    EXPECT_FALSE(top.has_value());
  }
}

} // namespace
} // namespace ledgergate::config
