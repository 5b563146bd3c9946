#include "proxy/sql/lexer.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ledgergate::sql {
namespace {

std::string shown(std::string_view text) {
  static constexpr std::string_view letters = "-wqsnpyo!";
  lexer reader(text);
  std::string result;
  for (token t = reader.next(); t.kind != token_kind::end; t = reader.next()) {
    result += letters[static_cast<std::size_t>(t.kind)];
    result += '{';
    result += t.text;
    result += '}';
  }
  return result;
}

struct lexer_case {
  const char* name;
  const char* text;
  const char* tokens;
};

// w word, q quoted identifier, s string, n number, p parameter, y symbol, o operator, ! unterminated
const lexer_case cases[] = {
    {"nothing", "", ""},
    {"blank_and_comments", " \t\n-- x\n/* a /* b */ c */", ""},
    {"words", "Select a_1$ \xD0\xBB", "w{Select}w{a_1$}w{\xD0\xBB}"},
    {"quotes_doubled", "'a''b' \"c\"\"d\"", "s{'a''b'}q{\"c\"\"d\"}"},
    {"escape_string", R"(E'a\'b' e'\\')", R"(s{E'a\'b'}s{e'\\'})"},
    {"backslash_is_plain_in_a_plain_string", R"('a\' b)", R"(s{'a\'}w{b})"},
    {"continued_string", "'a' \n 'b' 'c'", "s{'a' \n 'b'}s{'c'}"},
    {"continued_over_line_comment", "'a' -- x\n 'b'", "s{'a' -- x\n 'b'}"},
    {"not_continued_over_block_comment", "'a' /* \n */ 'b'", "s{'a'}s{'b'}"},
    {"escapes_go_on_in_the_continuation", "E'a'\n'\\'' x", "s{E'a'\n'\\''}w{x}"},
    {"other_strings", "N'a' B'01' x'ff' U&'\\0061'", "s{N'a'}s{B'01'}s{x'ff'}s{U&'\\0061'}"},
    {"unicode_identifier", "u&\"\\006C\" UESCAPE '!'", "q{u&\"\\006C\"}w{UESCAPE}s{'!'}"},
    {"word_u_and_operator", "u & 'a'", "w{u}o{&}s{'a'}"},
    {"dollar_quotes", "$$a'b$$ $x$ $$ $y$ $x$", "s{$$a'b$$}s{$x$ $$ $y$ $x$}"},
    {"dollar_quote_ends_inside_a_longer_one", "$a$ $b$a$ x", "s{$a$ $b$a$}w{x}"},
    {"dollar_in_a_word", "a$b$c", "w{a$b$c}"},
    {"parameters", "$1+$23", "p{$1}o{+}p{$23}"},
    {"lone_dollar", "$ $a", "y{$}y{$}w{a}"},
    {"numbers", "1 2.5 .5 1..2", "n{1}n{2.5}n{.5}n{1}y{.}n{.2}"},
    {"operator_before_comment", "a+--b\n*/*c*/d", "w{a}o{+}o{*}w{d}"},
    {"signs_are_operators_of_their_own", "1+++2 *-3 <>-4 @-5",
     "n{1}o{+}o{+}o{+}n{2}o{*}o{-}n{3}o{<>}o{-}n{4}o{@-}n{5}"},
    {"casts_and_assignment", "a::b:=c:d", "w{a}o{::}w{b}o{:=}w{c}y{:}w{d}"},
    {"brackets", "(a[1],b);", "y{(}w{a}y{[}n{1}y{]}y{,}w{b}y{)}y{;}"},
    {"string_without_end", "a 'b", "w{a}!{'b}"},
    {"identifier_without_end", "\"b", "!{\"b}"},
    {"dollar_quote_without_end", "$a$ b$a", "!{$a$ b$a}"},
    {"comment_without_end", "a /* /* */ b", "w{a}!{}"},
    {"escape_at_the_end", "E'\\", "!{E'\\}"},
};

class LexerCases : public testing::TestWithParam<lexer_case> {};

TEST_P(LexerCases, CutsAsTheServerDoes) { EXPECT_EQ(shown(GetParam().text), GetParam().tokens); }

INSTANTIATE_TEST_SUITE_P(Lexer, LexerCases, testing::ValuesIn(cases),
                         [](const auto& shown_case) { return std::string(shown_case.param.name); });

TEST(Lexer, MarksStringsWhoseReadingDependsOnTheSetting) {
  const auto marked = [](std::string_view text) { return lexer(text).next().has_backslash; };
  EXPECT_TRUE(marked(R"('a\b')"));
  EXPECT_TRUE(marked(R"(N'\')"));
  EXPECT_FALSE(marked(R"(E'a\b')"));
  EXPECT_FALSE(marked("'ab'"));
  EXPECT_FALSE(marked(R"(U&'\0061')"));
  EXPECT_FALSE(marked(R"($$a\b$$)"));
}

} // namespace
} // namespace ledgergate::sql
