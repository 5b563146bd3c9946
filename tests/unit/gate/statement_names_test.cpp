#include "proxy/gate/statement_names.hpp"

#include <gtest/gtest.h>

namespace ledgergate::gate {
namespace {

statement_class touching() {
  statement_class out;
  out.touch = sql::touch_kind::touch;
  return out;
}

TEST(StatementNames, KeepsTheOldClassWhenTheNewParseFails) {
  statement_names names;
  names.succeeded(names.begin_parse("s", touching(), 1));
  names.abandoned(names.begin_parse("s", statement_class{}, 1));
  EXPECT_EQ(names.find("s", 2)->touch, sql::touch_kind::touch);
}

TEST(StatementNames, AnswersForBothClassesWhileAParseIsPending) {
  statement_names names;
  names.succeeded(names.begin_parse("s", touching(), 1));
  named_statement* const pending = names.begin_parse("s", statement_class{}, 1);
  EXPECT_EQ(names.find("s", 2)->touch, sql::touch_kind::touch);
  names.succeeded(pending);
  EXPECT_EQ(names.find("s", 2)->touch, sql::touch_kind::none);
}

TEST(StatementNames, LastParseOfTheSameBatchDecidesAlone) {
  statement_names names;
  names.begin_parse("", touching(), 1);
  names.begin_parse("", statement_class{}, 2);
  EXPECT_EQ(names.find("", 2)->touch, sql::touch_kind::none);
  EXPECT_EQ(names.find("", 3)->touch, sql::touch_kind::touch);
}

TEST(StatementNames, ForgetsANameWhoseOnlyParseFailed) {
  statement_names names;
  names.abandoned(names.begin_parse("s", touching(), 1));
  EXPECT_FALSE(names.find("s", 2));
  EXPECT_EQ(names.size(), 1U); // the unnamed one stays
}

TEST(StatementNames, ComparesNamesAsTheServerDoesUpTo63Bytes) {
  statement_names names;
  const std::string cut(63, 'a');
  names.succeeded(names.begin_parse(cut + "x", touching(), 1));
  EXPECT_EQ(names.find(cut + "y", 2)->touch, sql::touch_kind::touch);
  EXPECT_FALSE(names.find(cut.substr(1), 2));
}

TEST(StatementNames, ForgetAllKeepsWhatIsPending) {
  statement_names names;
  names.succeeded(names.begin_parse("old", touching(), 1));
  named_statement* const pending = names.begin_parse("new", touching(), 1);
  names.forget_all();
  EXPECT_FALSE(names.find("old", 2));
  ASSERT_TRUE(names.find("new", 2));
  names.succeeded(pending);
  EXPECT_TRUE(names.find("new", 2));
}

TEST(StatementNames, SharesOneNamespaceWithSqlPrepare) {
  statement_names names;
  names.define("s", touching());
  EXPECT_EQ(names.find("s", 2)->touch, sql::touch_kind::touch);
  names.forget("s");
  EXPECT_FALSE(names.find("s", 2));
}

TEST(StatementNames, MergeOfDifferentControlIsUnknownAndMayDropThePin) {
  statement_class begin;
  begin.control = sql::control_kind::begin;
  const statement_class merged = merge(begin, touching());
  EXPECT_TRUE(merged.control_unknown);
  EXPECT_TRUE(merged.may_drop_pin());
  EXPECT_EQ(merged.touch, sql::touch_kind::touch);
}

TEST(Portals, ANamedPortalKeepsTheWorseClassOfSeveralBatches) {
  portals open;
  open.bind("p", touching(), 1);
  open.bind("p", statement_class{}, 2);
  EXPECT_EQ(open.find("p", 3)->touch, sql::touch_kind::touch);
  open.clear();
  EXPECT_FALSE(open.find("p", 3));
}

TEST(Portals, InsideABatchItsLastBindDecides) {
  portals open;
  open.bind("p", touching(), 1);
  open.bind("p", statement_class{}, 2);
  EXPECT_EQ(open.find("p", 2)->touch, sql::touch_kind::none);
}

TEST(Portals, TheUnnamedPortalIsReplaced) {
  portals open;
  open.bind("", touching(), 1);
  open.bind("", statement_class{}, 2);
  EXPECT_EQ(open.find("", 3)->touch, sql::touch_kind::none);
  open.close("");
  EXPECT_FALSE(open.find("", 3));
}

} // namespace
} // namespace ledgergate::gate
