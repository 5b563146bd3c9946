// The classifier with a catalog closure.
#include <gtest/gtest.h>

#include "proxy/sql/catalog_closure.hpp"
#include "proxy/sql/classifier.hpp"
#include "proxy/sql/explanation.hpp"
#include "tests/unit/sql/sample_settings.hpp"

namespace ledgergate::sql {
namespace {

closure_relation relation(const char* name, std::initializer_list<closure_access> on,
                          touch_kind touch = touch_kind::touch, std::vector<std::string> columns = {}) {
  closure_relation made{"app", name, {}};
  for (const closure_access how : on)
    made.on[static_cast<std::size_t>(how)] = {touch, columns};
  return made;
}

std::shared_ptr<catalog_closure> sample_closure() {
  auto closure = std::make_shared<catalog_closure>();
  using access = closure_access;
  closure->relations = {
      relation("postings", {access::read, access::insert}),
      relation("deeds", {access::insert}),
      relation("orders", {access::update}, touch_kind::touch, {"paid"}),
      relation("mode_view", {access::update}, touch_kind::transition),
      relation("Odd name", {access::read}),
      relation("ab", {access::remove}),
  };
  closure->relations[3].on[0].touch = touch_kind::touch;
  closure->functions = {{"app", "pay", touch_kind::touch, 20001},
                        {"app", "flip_mode", touch_kind::transition, 20002}};
  closure->operators = {{"app", "===", touch_kind::touch, 20003}};
  closure->types = {{"app", "account", touch_kind::touch, 20004}};
  closure->known_functions = {20000, 20001, 20002};
  return closure;
}

TEST(ClassifierWithClosure, KnowsATypeByItsNumber) {
  const classifier reader(test::sample_settings(), sample_closure());
  EXPECT_EQ(reader.judge_type(20004), touch_kind::touch);
  EXPECT_EQ(reader.judge_type(20001), touch_kind::none); // a function's
}

TEST(ClassifierWithClosure, TakesTheTemporarySchemasOfAllSessionsForOne) {
  const auto closure = sample_closure();
  closure->relations.push_back(relation("temp_deeds", {closure_access::insert}));
  closure->relations.back().schema = "pg_temp_3";
  closure->functions.push_back({"pg_temp_3", "temp_pay", touch_kind::touch, 20005});
  const classifier reader(test::sample_settings(), closure);
  for (const char* text : {"insert into pg_temp.temp_deeds values (1)", "select pg_temp.temp_pay()",
                           "select PG_TEMP_17.temp_pay()", "select temp_pay()"})
    EXPECT_EQ(reader.classify(text, {}).touch, touch_kind::touch) << text;
  for (const char* text : {"insert into public.temp_deeds values (1)", "select pg_temporal.temp_pay()"})
    EXPECT_EQ(reader.classify(text, {}).touch, touch_kind::none) << text;
}

struct text_case {
  const char* text;
  touch_kind expected;
};

TEST(ClassifierWithClosure, JudgesByTheAccess) {
  const classifier reader(test::sample_settings(), sample_closure());
  const text_case cases[] = {
      {"select * from postings", touch_kind::touch},
      {"select * from app.postings", touch_kind::touch},
      {"select * from other.postings", touch_kind::none},
      {"select account(1)", touch_kind::touch},
      {"select n.account from generate_series(1, 2) n", touch_kind::touch},
      {"select other.account(1)", touch_kind::none},
      {"select * from my_postings", touch_kind::none},
      {"delete from postings", touch_kind::none},
      {"insert into deeds values (1)", touch_kind::touch},
      {"copy deeds from stdin", touch_kind::touch},
      {"select * from deeds", touch_kind::none},
      {"update orders set paid = true", touch_kind::touch},
      {"update orders set note = ''", touch_kind::none},
      {"merge into orders o using x on o.id = x.id when matched then update set paid = true",
       touch_kind::touch},
      {"select * from mode_view", touch_kind::touch},
      {"update mode_view set mode = 'x'", touch_kind::transition},
      {"select * from \"Odd name\"", touch_kind::touch},
      {"delete from ab", touch_kind::touch},
      {"select pay(1)", touch_kind::touch},
      {"call app.pay(1)", touch_kind::touch},
      {"select (row).pay from x", touch_kind::touch},
      {"select other.pay(1)", touch_kind::none},
      {"select flip_mode()", touch_kind::transition},
      {"select 1 === 2", touch_kind::touch},
      {"select 1 operator(app.===) 2", touch_kind::touch},
      {"select 1 operator(other.===) 2", touch_kind::none},
      {"select '===' ", touch_kind::none},
      {"select '1'::account", touch_kind::touch},
      {"select cast(x as app.account) from y", touch_kind::touch},
      {"create view v as select * from postings", touch_kind::none},
      {"select 1", touch_kind::none},
      {"do 'begin perform flip_mode(); end'", touch_kind::transition},
      {"do 'begin perform 1 from mode_view; end'", touch_kind::touch},
      {"do 'begin update mode_view set mode = 1; end'", touch_kind::transition},
      {"select query_to_xml('select * from postings', true, true, '')", touch_kind::touch},
  };
  for (const text_case& each : cases)
    EXPECT_EQ(reader.classify(each.text, {}).touch, each.expected) << each.text;
}

TEST(ClassifierWithClosure, SaysThatTheCatalogWasTheReason) {
  const classifier reader(test::sample_settings(), sample_closure());
  const text_verdict verdict = reader.classify("insert into deeds values (1)", {});
  EXPECT_EQ(verdict.reason, touch_reason::catalog);
  EXPECT_EQ(verdict.name, "deeds");
}

TEST(ClassifierWithClosure, AnUnreadableTextThatNamesAnyOfItTouches) {
  const classifier reader(test::sample_settings(), sample_closure());
  EXPECT_EQ(reader.classify("select from from postings", {}).touch, touch_kind::touch);
  EXPECT_EQ(reader.classify("select from from flip_mode()", {}).touch, touch_kind::transition);
  EXPECT_EQ(reader.classify("update from mode_view", {}).touch, touch_kind::transition);
  EXPECT_EQ(reader.classify("select from from mode_view", {}).touch, touch_kind::touch);
  EXPECT_EQ(reader.classify("select from from elsewhere", {}).touch, touch_kind::none);
}

TEST(ClassifierWithClosure, AnEventTriggerMakesDefinitionsTouch) {
  auto closure = sample_closure();
  const text_case cases[] = {{"create table t (id int)", touch_kind::touch},
                             {"alter table t add x int", touch_kind::touch},
                             {"drop view v", touch_kind::touch},
                             {"create table t as select 1", touch_kind::touch},
                             {"select 1 into t", touch_kind::touch},
                             {"refresh materialized view m", touch_kind::touch},
                             {"vacuum t", touch_kind::none},
                             {"set x = 'create'", touch_kind::none},
                             {"select 1", touch_kind::none}};
  const classifier without(test::sample_settings(), closure);
  closure->definitions = touch_kind::touch;
  const classifier with(test::sample_settings(), closure);
  for (const text_case& each : cases) {
    EXPECT_EQ(with.classify(each.text, {}).touch, each.expected) << each.text;
    EXPECT_EQ(without.classify(each.text, {}).touch, touch_kind::none) << each.text;
  }
}

TEST(ClassifierWithClosure, BeforeTheCatalogWasReadOnlyHarmlessTextsDoNotTouch) {
  auto closure = std::make_shared<catalog_closure>();
  closure->unread = true;
  const classifier reader(test::sample_settings(), closure);
  for (const char* text : {"begin", "commit", "savepoint a", "set work_mem = 1000", "show all", "reset all",
                           "set transaction read only", "deallocate x", "discard plans", "listen c", "", ";",
                           "create table t (id int)", "begin; set local x.y = 1; commit"}) {
    EXPECT_EQ(reader.classify(text, {}).touch, touch_kind::none) << text;
  }
  for (const char* text :
       {"select 1", "insert into anything values (1)", "call p()", "copy t from stdin",
        "create table t as select 1", "lock table t", "what is this", "begin; select 1", "execute x"}) {
    EXPECT_EQ(reader.classify(text, {}).touch, touch_kind::touch) << text;
  }
  EXPECT_EQ(reader.classify("update mode_control set mode = 'x'", {}).touch, touch_kind::transition);
}

TEST(ClassifierWithClosure, KnowsFunctionsByOid) {
  const classifier reader(test::sample_settings(), sample_closure());
  EXPECT_EQ(reader.judge_function(20000), touch_kind::none);
  EXPECT_EQ(reader.judge_function(20001), touch_kind::touch);
  EXPECT_EQ(reader.judge_function(20002), touch_kind::transition);
  EXPECT_EQ(reader.judge_function(30000), touch_kind::touch) << "one that the catalogs did not show";
  EXPECT_EQ(classifier(test::sample_settings()).judge_function(20000), touch_kind::touch);
}

TEST(Explanation, GivesAVerdictForEachStatement) {
  const classifier reader(test::sample_settings(), sample_closure());
  const explained_text found = reader.explain("select 1;\n insert into app.deeds values (1)", {});
  ASSERT_EQ(found.statements.size(), 2U);
  EXPECT_EQ(found.statements[0].touch, touch_kind::none);
  EXPECT_EQ(found.statements[1].touch, touch_kind::touch);
  EXPECT_EQ(found.statements[1].name, "deeds");
  EXPECT_EQ(found.statements[1].schema, "app");
  EXPECT_EQ(found.statements[1].access, "insert");
  EXPECT_EQ(found.verdict.touch, touch_kind::touch);
}

TEST(Explanation, GivesThePlaceOfASyntaxError) {
  const classifier reader(test::sample_settings());
  const explained_text found = reader.explain("select from from led", {});
  EXPECT_TRUE(found.statements.empty());
  EXPECT_EQ(found.parse_position, 13U);
  EXPECT_NE(found.parse_message.find("syntax error"), std::string::npos);
}

} // namespace
} // namespace ledgergate::sql
