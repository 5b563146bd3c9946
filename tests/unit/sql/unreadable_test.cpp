#include "proxy/sql/unreadable.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/unit/sql/sample_settings.hpp"

namespace ledgergate::sql {
namespace {

TEST(Unreadable, TouchesOnlyWhenSomethingMentionedCanLeadToTheLedger) {
  EXPECT_EQ(judge_unreadable("x", mention::table, "syntax").touch, touch_kind::touch);
  EXPECT_EQ(judge_unreadable("x", mention::execute, "syntax").touch, touch_kind::touch);
  EXPECT_EQ(judge_unreadable("x", mention::hidden_name, "syntax").touch, touch_kind::touch);
  EXPECT_EQ(judge_unreadable("x", mention::forget, "syntax").touch, touch_kind::none);
  EXPECT_EQ(judge_unreadable("x", mention::prepare | mention::unlock, "syntax").touch, touch_kind::none);
  EXPECT_STREQ(judge_unreadable("x", mention::table, "too_deep").parse_error, "too_deep");
  EXPECT_EQ(judge_unreadable("x", mention::forget, "syntax").parse_error, nullptr);
}

TEST(Unreadable, MayChangeTheModeWhenTheControlRowStandsBesideAWrite) {
  EXPECT_EQ(judge_unreadable("update x", mention::control_table, "syntax").touch, touch_kind::transition);
  EXPECT_EQ(judge_unreadable("select x", mention::control_table, "syntax").touch, touch_kind::touch);
  EXPECT_EQ(judge_unreadable("MERGE x", mention::hidden_name, "syntax").touch, touch_kind::transition);
  EXPECT_EQ(judge_unreadable("update x", mention::table, "syntax").touch, touch_kind::touch);
  EXPECT_EQ(judge_unreadable("select updated x", mention::control_table, "syntax").touch, touch_kind::touch);
}

TEST(Unreadable, OneStatementIsReadByItsFirstWords) {
  const text_verdict insert =
      judge_unreadable("insert into led values ('begin', 'call', 'commit') ; ", mention::table, "x");
  EXPECT_FALSE(insert.has_transaction_control);
  EXPECT_FALSE(insert.may_commit_inside);
  EXPECT_TRUE(judge_unreadable("/* x */ call p(1, ", mention::table, "x").may_commit_inside);
  EXPECT_TRUE(judge_unreadable("do $$", mention::do_block, "x").may_commit_inside);
  EXPECT_EQ(judge_unreadable("rollback; led", mention::table, "x").first, control_kind::rollback);
}

TEST(Unreadable, SeveralStatementsAreReadByAllTheirWords) {
  const text_verdict verdict = judge_unreadable("select ';'; commit; call p()", mention::table, "x");
  EXPECT_TRUE(verdict.has_transaction_control);
  EXPECT_TRUE(verdict.may_commit_inside);
  EXPECT_FALSE(judge_unreadable("select 1; select 2", mention::table, "x").has_transaction_control);
}

TEST(Unreadable, WhatMayHaveBeenForgottenCountsAsForgotten) {
  EXPECT_TRUE(judge_unreadable("discard all", mention::forget, "x").forgets_statements);
  EXPECT_TRUE(judge_unreadable("discard all", mention::forget, "x").drops_session_locks);
  EXPECT_TRUE(judge_unreadable("x", mention::unlock, "x").drops_session_locks);
  EXPECT_FALSE(judge_unreadable("x", mention::table, "x").drops_session_locks);
}

TEST(Unreadable, HugeTextsGetAVerdict) {
  const classifier reader(test::sample_settings());
  std::string text = "select * from led where x in (1";
  while (text.size() < 50'000'000)
    text += ",2345678";
  text += ")";
  const text_verdict verdict = reader.classify(text, {});
  EXPECT_EQ(verdict.touch, touch_kind::touch);
  EXPECT_STREQ(verdict.parse_error, "too_long");
  EXPECT_FALSE(verdict.has_transaction_control);
  EXPECT_FALSE(reader.is_candidate(std::string(50'000'000, 'x'), {}));
}

} // namespace
} // namespace ledgergate::sql
