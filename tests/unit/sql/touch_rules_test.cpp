#include "proxy/sql/touch_rules.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sql/sample_settings.hpp"

namespace ledgergate::sql {
namespace {

const access_kind all_kinds[] = {access_kind::read,
                                 access_kind::lock_for_key_share,
                                 access_kind::lock_for_share,
                                 access_kind::lock_for_no_key_update,
                                 access_kind::lock_for_update,
                                 access_kind::lock_table_for_reading,
                                 access_kind::lock_table_for_writing,
                                 access_kind::insert,
                                 access_kind::update,
                                 access_kind::remove,
                                 access_kind::truncate};

judgement judge_access(relation_access access) {
  statement_facts facts;
  facts.kind = statement_kind::plain_dml;
  facts.relations.push_back(std::move(access));
  return judge(facts, make_gated_names(test::sample_settings()));
}

judgement judge_access(const char* name, access_kind how) {
  relation_access access;
  access.name = name;
  access.how = how;
  return judge_access(access);
}

TEST(TouchRules, AnyMatchesEveryAccess) {
  for (const access_kind how : all_kinds)
    EXPECT_EQ(judge_access("led", how).touch, touch_kind::touch);
}

TEST(TouchRules, LockMatchesEverythingButReading) {
  for (const access_kind how : all_kinds) {
    EXPECT_EQ(judge_access("balances", how).touch == touch_kind::touch, how != access_kind::read);
  }
}

TEST(TouchRules, WriteMatchesRowWritesOnly) {
  for (const access_kind how : all_kinds) {
    const bool writes = how == access_kind::insert || how == access_kind::update ||
                        how == access_kind::remove || how == access_kind::truncate;
    EXPECT_EQ(judge_access("accounts", how).touch == touch_kind::touch, writes);
  }
}

TEST(TouchRules, ColumnsNarrowInsertAndUpdateOnly) {
  relation_access access;
  access.name = "users";
  for (const access_kind how : {access_kind::insert, access_kind::update}) {
    access.how = how;
    access.columns = {"name"};
    EXPECT_EQ(judge_access(access).touch, touch_kind::none);
    access.columns = {"name", "kudos"};
    EXPECT_EQ(judge_access(access).touch, touch_kind::touch);
    access.columns = {};
    access.all_columns = true;
    EXPECT_EQ(judge_access(access).touch, touch_kind::touch);
    access.all_columns = false;
  }
  EXPECT_EQ(judge_access("users", access_kind::remove).touch, touch_kind::touch);
  EXPECT_EQ(judge_access("users", access_kind::truncate).touch, touch_kind::touch);
  EXPECT_EQ(judge_access("users", access_kind::lock_for_update).touch, touch_kind::none);
}

TEST(TouchRules, SchemasCompareOnlyWhenBothAreNamed) {
  const auto with_schema = [](const char* schema, const char* name) {
    relation_access access;
    access.schema = schema;
    access.name = name;
    return judge_access(access).touch;
  };
  EXPECT_EQ(with_schema("", "vault"), touch_kind::touch);
  EXPECT_EQ(with_schema("finance", "vault"), touch_kind::touch);
  EXPECT_EQ(with_schema("other", "vault"), touch_kind::none);
  EXPECT_EQ(with_schema("other", "led"), touch_kind::touch);
  EXPECT_EQ(with_schema("", "vaults"), touch_kind::none);
  EXPECT_EQ(with_schema("", "LED"), touch_kind::none);
}

TEST(TouchRules, ControlRowIsATransitionWhenItMayChange) {
  for (const access_kind how : all_kinds) {
    const bool only_looks = how == access_kind::read || how == access_kind::lock_for_key_share ||
                            how == access_kind::lock_for_share || how == access_kind::lock_table_for_reading;
    const judgement judged = judge_access("mode_control", how);
    EXPECT_EQ(judged.touch, only_looks ? touch_kind::touch : touch_kind::transition);
    EXPECT_EQ(judged.reason, touch_reason::control_row);
  }
}

TEST(TouchRules, TheStrongestOfSeveralReasonsWins) {
  statement_facts facts;
  for (const char* name : {"led", "mode_control", "balances"}) {
    relation_access access;
    access.name = name;
    access.how = access_kind::update;
    facts.relations.push_back(access);
  }
  const judgement judged = judge(facts, make_gated_names(test::sample_settings()));
  EXPECT_EQ(judged.touch, touch_kind::transition);
  EXPECT_EQ(judged.name, "mode_control");
}

judgement judge_call(function_call call) {
  statement_facts facts;
  facts.functions.push_back(std::move(call));
  return judge(facts, make_gated_names(test::sample_settings()));
}

TEST(TouchRules, FunctionsCompareAsTablesDo) {
  const auto called = [](const char* schema, const char* name) {
    function_call call;
    call.schema = schema;
    call.name = name;
    return judge_call(call).touch;
  };
  EXPECT_EQ(called("", "post_kudos"), touch_kind::touch);
  EXPECT_EQ(called("any", "post_kudos"), touch_kind::touch);
  EXPECT_EQ(called("", "settle"), touch_kind::touch);
  EXPECT_EQ(called("finance", "settle"), touch_kind::touch);
  EXPECT_EQ(called("other", "settle"), touch_kind::none);
  EXPECT_EQ(called("", "post"), touch_kind::none);
}

TEST(TouchRules, OnlyListedTwoKeyLocksTouch) {
  const auto locked = [](const char* name, std::size_t arguments, std::optional<std::int64_t> first) {
    function_call call;
    call.name = name;
    call.argument_count = arguments;
    call.first_integer = first;
    return judge_call(call);
  };
  for (const char* name :
       {"pg_advisory_lock", "pg_advisory_lock_shared", "pg_advisory_xact_lock",
        "pg_advisory_xact_lock_shared", "pg_try_advisory_lock", "pg_try_advisory_xact_lock_shared"}) {
    EXPECT_EQ(locked(name, 2, 0x4B554452).reason, touch_reason::advisory_lock) << name;
    EXPECT_EQ(locked(name, 2, std::nullopt).touch, touch_kind::touch)
        << name << ": a computed namespace could be any";
    EXPECT_EQ(locked(name, 2, 7).touch, touch_kind::none) << name;
    EXPECT_EQ(locked(name, 1, 0x4B554452).touch, touch_kind::none) << name;
  }
  EXPECT_EQ(locked("pg_advisory_unlock", 2, 0x4B554452).touch, touch_kind::none);
}

TEST(TouchRules, QueriesInStringsAreLookedAt) {
  const auto given = [](const char* name, std::vector<std::string> texts, bool computed) {
    function_call call;
    call.name = name;
    call.argument_count = texts.size() + (computed ? 1 : 0);
    call.text_arguments = std::move(texts);
    call.has_computed_text = computed;
    return judge_call(call).touch;
  };
  EXPECT_EQ(given("query_to_xml", {"select * from LED"}, false), touch_kind::touch);
  EXPECT_EQ(given("query_to_xml", {"select 1"}, false), touch_kind::none);
  EXPECT_EQ(given("query_to_xml", {"select 1"}, true), touch_kind::touch);
  EXPECT_EQ(given("ts_stat", {}, true), touch_kind::touch);
  EXPECT_EQ(given("schema_to_xml", {"public"}, false), touch_kind::touch);
  EXPECT_EQ(given("lower", {"select * from led"}, false), touch_kind::none);
}

TEST(TouchRules, DoBlockThatMayWriteTheControlRowIsATransition) {
  const auto judged = [](const char* body) {
    statement_facts facts;
    facts.kind = statement_kind::do_block;
    facts.do_body = body;
    return judge(facts, make_gated_names(test::sample_settings())).touch;
  };
  EXPECT_EQ(judged("begin end"), touch_kind::touch);
  EXPECT_EQ(judged("begin perform 1 from mode_control; end"), touch_kind::touch);
  EXPECT_EQ(judged("begin UPDATE Mode_Control set mode = 'x'; end"), touch_kind::transition);
}

} // namespace
} // namespace ledgergate::sql
