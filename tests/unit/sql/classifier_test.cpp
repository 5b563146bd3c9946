#include "proxy/sql/classifier.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/unit/sql/sample_settings.hpp"

namespace ledgergate::sql {
namespace {

text_verdict classify(std::string_view text, reading_context context = {}) {
  return classifier(test::sample_settings()).classify(text, context);
}

TEST(Classifier, NamesWhatMatchedAndWhy) {
  const text_verdict table = classify("select * from x, s.LED");
  EXPECT_EQ(table.reason, touch_reason::table);
  EXPECT_EQ(table.name, "led");
  EXPECT_EQ(table.parse_error, nullptr);
  EXPECT_EQ(classify("select post_kudos()").reason, touch_reason::function);
  EXPECT_EQ(classify("select from mode_control").reason, touch_reason::control_row);
  EXPECT_EQ(classify("select pg_advisory_lock(1263879250, 1)").reason, touch_reason::advisory_lock);
  EXPECT_EQ(classify("do $$$$").reason, touch_reason::do_block);
  EXPECT_EQ(classify("selec led").reason, touch_reason::unparsed);
  EXPECT_EQ(classify("select 'led'").reason, touch_reason::no_rule_matches);
  EXPECT_EQ(classify("select 1").reason, touch_reason::not_mentioned);
}

TEST(Classifier, FindsTransactionControlAnywhere) {
  EXPECT_TRUE(classify("insert into led values (1); commit").has_transaction_control);
  EXPECT_TRUE(classify("begin; insert into led values (1)").has_transaction_control);
  EXPECT_TRUE(classify("insert into led values (1); savepoint a").has_transaction_control);
  EXPECT_TRUE(classify("select from led; prepare transaction 'x'").has_transaction_control);
  EXPECT_TRUE(classify("select from led; rollback and chain").has_transaction_control);
  EXPECT_TRUE(classify("select from led; commit prepared 'x'").has_transaction_control);
  EXPECT_FALSE(classify("insert into led values ('begin; commit'); select 1").has_transaction_control);
  EXPECT_FALSE(classify("set transaction read only; select from led").has_transaction_control);
}

TEST(Classifier, SaysWhatTheFirstStatementIs) {
  EXPECT_EQ(classify("rollback; insert into led values (1)").first, control_kind::rollback);
  EXPECT_EQ(classify("commit and chain; select from led").first, control_kind::commit_and_chain);
  EXPECT_EQ(classify("set transaction isolation level serializable; select from led").first,
            control_kind::set_transaction);
  EXPECT_EQ(classify("select from led; commit").first, control_kind::none);
}

TEST(Classifier, KnowsWhatMayCommitInside) {
  EXPECT_TRUE(classify("call p((select 1 from led))").may_commit_inside);
  EXPECT_TRUE(classify("do $$x$$").may_commit_inside);
  EXPECT_TRUE(classify("select from led; call p()").may_commit_inside);
  EXPECT_FALSE(classify("select from led").may_commit_inside);
}

TEST(Classifier, KnowsWhatDropsSessionLocks) {
  EXPECT_TRUE(classify("discard all").drops_session_locks);
  EXPECT_TRUE(classify("select pg_advisory_unlock_all()").drops_session_locks);
  EXPECT_TRUE(classify("select PG_Catalog.pg_advisory_unlock_shared(1263879245)").drops_session_locks);
  EXPECT_TRUE(classify("do $$ begin perform pg_advisory_unlock_all(); end $$").drops_session_locks);
  EXPECT_FALSE(classify("do $$x$$").drops_session_locks);
  EXPECT_FALSE(
      classify("select pg_advisory_unlock(1), pg_advisory_unlock_shared(1263879245, 1)").drops_session_locks);
  EXPECT_FALSE(classify("discard plans").drops_session_locks);
  EXPECT_EQ(classify("discard all").touch, touch_kind::none);
  EXPECT_EQ(classify("select pg_advisory_unlock_all()").touch, touch_kind::none);
}

TEST(Classifier, PrepareIsNoTouchButWhatItPreparesIs) {
  const text_verdict verdict =
      classify("prepare a as insert into led values ($1); PREPARE \"B\" (int) AS select 1; "
               "prepare c as update mode_control set mode = $1; "
               "prepare d as select pg_advisory_unlock_all()");
  EXPECT_EQ(verdict.touch, touch_kind::none);
  EXPECT_FALSE(verdict.drops_session_locks);
  ASSERT_EQ(verdict.prepares.size(), 4U);
  EXPECT_EQ(verdict.prepares[0].name, "a");
  EXPECT_EQ(verdict.prepares[0].touch, touch_kind::touch);
  EXPECT_EQ(verdict.prepares[1].name, "B");
  EXPECT_EQ(verdict.prepares[1].touch, touch_kind::none);
  EXPECT_EQ(verdict.prepares[2].touch, touch_kind::transition);
  EXPECT_FALSE(verdict.prepares[2].drops_session_locks);
  EXPECT_TRUE(verdict.prepares[3].drops_session_locks);
}

TEST(Classifier, ListsExecutedAndForgottenStatements) {
  const text_verdict verdict = classify("execute a; explain analyze execute b; create table n as execute c; "
                                        "explain execute d; deallocate e; deallocate prepare f");
  EXPECT_EQ(verdict.executes, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(verdict.deallocates, (std::vector<std::string>{"e", "f"}));
  EXPECT_FALSE(verdict.forgets_statements);
  EXPECT_TRUE(classify("deallocate all").forgets_statements);
  EXPECT_TRUE(classify("discard all").forgets_statements);
  EXPECT_FALSE(classify("discard temp").forgets_statements);
}

TEST(Classifier, ArgumentsOfExecuteAreRead) {
  EXPECT_EQ(classify("execute a((select count(*) from led))").touch, touch_kind::touch);
}

TEST(Classifier, BackslashesWithoutStandardStringsFailClosed) {
  const reading_context off{.standard_conforming_strings = false};
  const text_verdict verdict = classify("select '\\'; update led set x = 1 --'", off);
  EXPECT_EQ(verdict.touch, touch_kind::touch);
  EXPECT_STREQ(verdict.parse_error, "escape");
  EXPECT_EQ(classify("select 'led \\'", off).touch, touch_kind::touch);
  EXPECT_EQ(classify("select 'led'", off).touch, touch_kind::none);
  EXPECT_EQ(classify("select E'led \\''").touch, touch_kind::none);
  EXPECT_EQ(classify("select '\\'", off).reason, touch_reason::not_mentioned);
}

TEST(Classifier, EncodingsThatHideAsciiFailClosed) {
  const reading_context sjis{.utf8_safe_encoding = false, .utf8 = false};
  const text_verdict verdict = classify("select '\x83\x5C', 'led'", sjis);
  EXPECT_EQ(verdict.touch, touch_kind::touch);
  EXPECT_STREQ(verdict.parse_error, "encoding");
  EXPECT_EQ(classify("select 'led'", sjis).touch, touch_kind::none);
}

TEST(Classifier, NamesBeyondAsciiInAnotherEncodingFailClosed) {
  const reading_context latin{.utf8 = false};
  EXPECT_EQ(classify("select '\xE9'", latin).touch, touch_kind::touch);
  EXPECT_EQ(classify("select 1", latin).touch, touch_kind::none);
  EXPECT_EQ(classify("select '\xC3\xA9'").touch, touch_kind::none);
  config::settings settings = test::sample_settings();
  settings.gate.tables.pop_back();
  const classifier ascii_only(settings);
  EXPECT_EQ(ascii_only.classify("select '\xE9'", latin).touch, touch_kind::none);
  EXPECT_FALSE(ascii_only.is_candidate("select '\xE9'", latin));
}

TEST(Classifier, ListsEncodingsThatHideAscii) {
  for (const char* name : {"SJIS", "BIG5", "GBK", "UHC", "GB18030", "JOHAB", "SHIFT_JIS_2004", "sjis",
                           "Shift_JIS", "WIN936", "windows949"}) {
    EXPECT_TRUE(encoding_hides_ascii(name)) << name;
  }
  for (const char* name : {"UTF8", "LATIN1", "SQL_ASCII", "EUC_JP", "EUC_KR", "WIN1252", "", "KOI8R"}) {
    EXPECT_FALSE(encoding_hides_ascii(name)) << name;
  }
}

TEST(Classifier, NewerGrammarFailsClosed) {
  EXPECT_EQ(classify("merge into led using o on true when matched then delete returning *").touch,
            touch_kind::touch);
  EXPECT_EQ(classify("select json_table(led format weird)").reason, touch_reason::unparsed);
}

TEST(Classifier, NamesOfOneByteAreFound) {
  config::settings settings;
  settings.gate.tables = {{"", "t", config::pin_on::any, {}}};
  const classifier reader(settings);
  EXPECT_EQ(reader.classify("select * from T", {}).touch, touch_kind::touch);
  EXPECT_EQ(reader.classify("select at from tt", {}).touch, touch_kind::none);
}

TEST(Classifier, WithoutRulesOnlyDoBlocksTouch) {
  const classifier reader{config::settings{}};
  EXPECT_EQ(reader.classify("select * from led", {}).reason, touch_reason::not_mentioned);
  EXPECT_EQ(reader.classify("select pg_advisory_lock(1, 2)", {}).reason, touch_reason::not_mentioned);
  EXPECT_EQ(reader.classify("do $$x$$", {}).touch, touch_kind::touch);
}

} // namespace
} // namespace ledgergate::sql
