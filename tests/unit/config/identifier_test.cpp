#include "config/identifier.hpp"

#include <gtest/gtest.h>

namespace ledgergate::config {
namespace {

TEST(QualifiedName, IsFoldedAsTheServerFoldsIt) {
  struct name_case {
    const char* text;
    qualified_name expected;
  };
  for (const auto& [text, expected] : {
           name_case{"kudos_ledger", {"", "kudos_ledger"}},
           name_case{"Kudos_Ledger", {"", "kudos_ledger"}},
           name_case{"\"Kudos_Ledger\"", {"", "Kudos_Ledger"}},
           name_case{"public.kudos", {"public", "kudos"}},
           name_case{"Public.\"Kudos\"", {"public", "Kudos"}},
           name_case{"\"a.b\".c", {"a.b", "c"}},
           name_case{"\"say \"\"hi\"\"\"", {"", "say \"hi\""}},
           name_case{"_a$1", {"", "_a$1"}},
           name_case{"\xC3\x84rger", {"", "\xC3\x84rger"}},
       }) {
    SCOPED_TRACE(text);
    const auto name = parse_qualified_name(text);
    ASSERT_TRUE(name.has_value());
    EXPECT_EQ(*name, expected);
  }
}

TEST(QualifiedName, RefusesWhatTheServerWouldNotReadAsOneName) {
  for (const char* text : {"", " a", "a ", "1a", "$a", "a-b", "a.b.c", "a.", ".a", "a..b", "\"a", "\"\"",
                           "a\"b\"", "\"a\"b", "a b", "a;b", "a,b", "*", "'a'"}) {
    SCOPED_TRACE(text);
    const auto name = parse_qualified_name(text);
    ASSERT_FALSE(name.has_value());
    EXPECT_NE(name.error().message.find("schema.name"), std::string::npos);
  }
}

TEST(QualifiedName, HoldsSixtyThreeBytesPerPartAndNotOneMore) {
  const std::string longest(63, 'x');
  EXPECT_TRUE(parse_qualified_name(longest + "." + longest).has_value());
  for (const std::string& text :
       {longest + "x", longest + "x.a", "a." + longest + "x", "\"" + longest + "x\""}) {
    const auto name = parse_qualified_name(text);
    ASSERT_FALSE(name.has_value()) << text;
    EXPECT_EQ(name.error().message, "is too long: a name has at most 63 bytes, this one has 64");
  }
  EXPECT_FALSE(parse_identifier(longest + "x").has_value());
}

TEST(Identifier, IsOnePart) {
  EXPECT_EQ(*parse_identifier("Kudos"), "kudos");
  EXPECT_EQ(*parse_identifier("\"Kudos\""), "Kudos");
  EXPECT_FALSE(parse_identifier("a.b").has_value());
  EXPECT_FALSE(parse_identifier("").has_value());
}

TEST(QuoteIdentifier, WritesWhatIsReadBackAsTheSameName) {
  for (const std::string name :
       {"plain", "Upper", "with space", "with\"quote", "with.dot", "1st", "\xC3\xA4", "a$"}) {
    EXPECT_EQ(*parse_identifier(quote_identifier(name)), name);
    const qualified_name qualified{name, name};
    EXPECT_EQ(*parse_qualified_name(quote_identifier(qualified)), qualified);
  }
  EXPECT_EQ(quote_identifier("plain_1"), "plain_1");
  EXPECT_EQ(quote_identifier(qualified_name{"", "Upper"}), "\"Upper\"");
}

} // namespace
} // namespace ledgergate::config
