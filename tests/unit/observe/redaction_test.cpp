#include "proxy/observe/redaction.hpp"

#include <gtest/gtest.h>

namespace ledgergate::observe {
namespace {

using config::log_statements;

struct redaction_case {
  const char* name;
  const char* statement;
  const char* shown;
};

struct Redaction : testing::TestWithParam<redaction_case> {};

TEST_P(Redaction, ShowsTheShapeAndNoConstant) {
  EXPECT_EQ(redact_statement(GetParam().statement, log_statements::redacted), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    Statements, Redaction,
    testing::Values(redaction_case{"Numbers", "select 1, -2.5e+10, .5 from t1", "select ?, -?, ? from t1"},
                    redaction_case{"Strings", "update users set name = 'O''Hara' where id=7",
                                   "update users set name = ? where id=?"},
                    redaction_case{"EscapeStrings", R"(select E'it\'s secret', x)", "select ?, x"},
                    redaction_case{"PrefixedStrings", "select B'101', x'ff', N'n'", "select ?, ?, ?"},
                    redaction_case{"UnicodeStrings", "select U&'d\\0061t', 1", "select U&?"},
                    redaction_case{"DollarQuotes", "do $body$ secret $x$ more $body$ language plpgsql",
                                   "do ? language plpgsql"},
                    redaction_case{"EmptyDollarTag", "select $$secret$$, a", "select ?, a"},
                    redaction_case{"Parameters", "select $1, $22", "select $1, $22"},
                    redaction_case{"QuotedIdentifiers", "select \"it's\" from \"T 1\"",
                                   "select \"it's\" from \"T 1\""},
                    redaction_case{"Comments", "select /* 'secret' /* nested */ 1 */ a -- 'x'\n from t",
                                   "select a from t"},
                    redaction_case{"Blanks", "select\n\t a,\n b", "select a, b"},
                    redaction_case{"CutOffString", "insert into t values ('secr", "insert into t values (?"},
                    redaction_case{"CutOffDollarQuote", "select $a$ secret", "select ?"},
                    redaction_case{"DoubtfulBackslash", R"(select 'a\', 'secret')", "select ?"},
                    redaction_case{"CutOffComment", "select 1 /* secret", "select ? "}),
    [](const auto& about) { return about.param.name; });

TEST(RedactionPolicy, ShowsAllOrNothingWhenAskedTo) {
  EXPECT_EQ(redact_statement("select 'x'", log_statements::full), "select 'x'");
  EXPECT_EQ(redact_statement("select 'x'", log_statements::none), "");
}

} // namespace
} // namespace ledgergate::observe
