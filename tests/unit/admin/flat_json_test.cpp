#include "proxy/admin/flat_json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ledgergate::admin {
namespace {

flat_json_object members_of(std::string_view text) {
  auto parsed = parse_flat_json(text);
  if (const auto* error = std::get_if<flat_json_error>(&parsed)) {
    ADD_FAILURE() << error->message;
    return {};
  }
  return std::get<flat_json_object>(std::move(parsed));
}

std::string refusal_of(std::string_view text) {
  const auto parsed = parse_flat_json(text);
  const auto* error = std::get_if<flat_json_error>(&parsed);
  return error != nullptr ? error->message : "accepted";
}

TEST(FlatJson, KeepsMembersInOrderWithTheirKinds) {
  const auto members =
      members_of(R"( {"to":"ledger","dry_run":true,"n":-1.5e3,"none":null,"o":{"a":[1]},"l":[{}]} )");
  ASSERT_EQ(members.size(), 6u);
  EXPECT_EQ(members[0].first, "to");
  EXPECT_EQ(std::get<std::string>(members[0].second), "ledger");
  EXPECT_EQ(std::get<bool>(members[1].second), true);
  EXPECT_STREQ(kind_of(members[2].second), "a number");
  EXPECT_STREQ(kind_of(members[3].second), "null");
  EXPECT_STREQ(kind_of(members[4].second), "an object");
  EXPECT_STREQ(kind_of(members[5].second), "an array");
}

TEST(FlatJson, DecodesEscapesInNamesAndValues) {
  const auto members = members_of(R"({"t\u006f":"le\"dger \u20ac"})");
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members[0].first, "to");
  EXPECT_EQ(std::get<std::string>(members[0].second), "le\"dger \xe2\x82\xac");
}

TEST(FlatJson, RefusesANameThatIsGivenTwiceHoweverItIsSpelt) {
  EXPECT_EQ(refusal_of(R"({"to":"shadow","to":"ledger"})"), "the field 'to' is given twice");
  EXPECT_EQ(refusal_of(R"({"to":"shadow","t\u006f":"ledger"})"), "the field 'to' is given twice");
}

TEST(FlatJson, AllowsTheSameNameInsideANestedObject) {
  EXPECT_EQ(members_of(R"({"x":{"to":1,"to":2},"to":"ledger"})").size(), 2u);
}

TEST(FlatJson, RefusesEverythingButOneObject) {
  for (const char* text : {"[]", "\"to\"", "1", "null", "true"}) {
    EXPECT_EQ(refusal_of(text), "the body must be a JSON object") << text;
  }
}

TEST(FlatJson, RefusesTextThatIsNotStrictJson) {
  for (const char* text :
       {"", " ", "{", "{\"to\"}", "{\"to\":}", "{to:\"x\"}", "{'to':'x'}", "{\"to\":\"x\",}",
        "{\"to\":\"x\"}}", "{\"to\":\"x\"} {}", "// c\n{}", "{\"to\":\"\x80\"}", "{\"to\":\"\n\"}",
        "{\"to\":\"\\ud800\"}", "\xef\xbb\xbf{}"}) {
    EXPECT_NE(refusal_of(text).find("not valid JSON"), std::string::npos) << text << ": " << refusal_of(text);
  }
}

TEST(FlatJson, RefusesNestingBeyondItsDepth) {
  const std::string deep = "{\"x\":" + std::string(60'000, '[');
  EXPECT_NE(refusal_of(deep).find("not valid JSON"), std::string::npos);
  const std::string allowed =
      "{\"x\":" + std::string(flat_json_max_depth - 1, '[') + std::string(flat_json_max_depth - 1, ']') + "}";
  EXPECT_EQ(members_of(allowed).size(), 1u);
  const std::string one_more =
      "{\"x\":" + std::string(flat_json_max_depth, '[') + std::string(flat_json_max_depth, ']') + "}";
  EXPECT_NE(refusal_of(one_more), "accepted");
}

} // namespace
} // namespace ledgergate::admin
