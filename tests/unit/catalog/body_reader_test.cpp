#include "proxy/catalog/body_reader.hpp"

#include <gtest/gtest.h>

namespace ledgergate::catalog {
namespace {

function_row with_body(const std::string& body, const std::string& language = "plpgsql") {
  function_row row;
  row.language = language;
  row.body = body;
  return row;
}

std::string words_of(const std::string& body) {
  std::string text;
  for (const body_word& word : read_body(with_body(body), {}).words)
    text += (text.empty() ? "" : " ") + word.text + (word.called ? "()" : "");
  return text;
}

TEST(BodyReader, CutsWordsAtEverythingThatIsNoLetterDigitOrUnderscore) {
  EXPECT_EQ(words_of("Select a_1 from $q$Ledger$q$"), "a_1 from ledger q select");
}

TEST(BodyReader, AWordIsCalledWhenAParenthesisFollowsOrADotPrecedes) {
  EXPECT_EQ(words_of("f(x)"), "f() x");
  EXPECT_EQ(words_of("\"f\" (x)"), "f() x");
  EXPECT_EQ(words_of("f /* why */ (x)").substr(0, 3), "f()");
  EXPECT_EQ(words_of("x.f"), "f() x");
  EXPECT_EQ(words_of("f := 1"), "1 f");
}

TEST(BodyReader, AWordThatIsCalledOnceIsCalled) { EXPECT_EQ(words_of("f := f(1)"), "1 f()"); }

TEST(BodyReader, WritingWordsSayWhatMayBeDone) {
  const auto may = [](const char* body) {
    std::string text = "rsliudtbw"; // reads .. truncates, rebuilds, rewrites
    static_assert(sql::closure_access_count == 9);
    const body_facts facts = read_body(with_body(body), {});
    for (std::size_t i = 0; i < facts.may_do.size(); ++i) {
      if (!facts.may_do[i]) text[i] = '-';
    }
    return text;
  };
  EXPECT_EQ(may("begin perform 1; end"), "r--------");
  EXPECT_EQ(may("INSERT"), "r--i-----");
  EXPECT_EQ(may("update"), "r-l-u----");
  EXPECT_EQ(may("for share"), "rs-------");
  EXPECT_EQ(may("merge"), "r--iud---");
  EXPECT_EQ(may("truncate"), "r-----t--");
  EXPECT_EQ(may("execute x"), "rsliudtbw");
  EXPECT_EQ(may("vacuum"), "r------b-");
  EXPECT_EQ(may("alter"), "r------bw");
}

TEST(BodyReader, ReadsSqlWithTheParserAndFallsBackToWords) {
  EXPECT_TRUE(read_body(with_body("select 1; select 2", "sql"), {}).is_parsed);
  EXPECT_FALSE(read_body(with_body("select (", "sql"), {}).is_parsed);
  EXPECT_FALSE(read_body(with_body("select ts_stat('select 1')", "sql"), {}).is_parsed);
}

TEST(BodyReader, NoticesSqlThatIsPutTogether) {
  EXPECT_TRUE(read_body(with_body("begin execute x; end"), {}).is_dynamic);
  EXPECT_TRUE(read_body(with_body("begin perform query_to_xml(x, true, true, ''); end"), {}).is_dynamic);
  EXPECT_TRUE(read_body(with_body("begin delete from U&\"\\006cedger\"; end"), {}).is_dynamic);
  EXPECT_FALSE(read_body(with_body("begin executed := 1; end"), {}).is_dynamic);
}

TEST(BodyReader, OtherLanguagesAreNotRead) {
  EXPECT_FALSE(read_body(with_body("return 1", "plperlu"), {}).is_readable);
  EXPECT_FALSE(read_body(with_body("symbol", "c"), {}).is_readable);
}

} // namespace
} // namespace ledgergate::catalog
