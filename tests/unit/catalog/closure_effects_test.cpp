// Triggers, foreign keys, and what the columns of a table bring with them.
#include <gtest/gtest.h>

#include "tests/unit/catalog/sample_catalog.hpp"

namespace ledgergate::test {
namespace {

class ClosureOfEffects : public testing::Test {
 protected:
  sample_catalog catalog;
  const object_id pay = catalog.function("pay", "begin insert into ledger values (new.id); return new; end");
  const object_id posts = catalog.table("posts");

  std::string posts_after() const { return accesses_of(catalog.closure(), "posts"); }
  void depends_on_pay(object_class of, object_id object) {
    catalog.depends(of, object, object_class::function, pay);
  }
};

TEST_F(ClosureOfEffects, ATriggerGatesItsEventsOnly) {
  catalog.trigger(posts, pay, on_insert | on_delete);
  EXPECT_EQ(posts_after(), "---i-d-");
}

TEST_F(ClosureOfEffects, ATruncateTriggerGatesTruncate) {
  catalog.trigger(posts, pay, on_truncate);
  EXPECT_EQ(posts_after(), "------t");
}

TEST_F(ClosureOfEffects, ATriggerOfColumnsGatesTheirAssignment) {
  catalog.trigger(posts, pay, on_update, {"paid"});
  EXPECT_EQ(posts_after(), "----u--");
  EXPECT_EQ(columns_of(catalog.closure(), "posts", closure_access::update), std::vector<std::string>{"paid"});
}

TEST_F(ClosureOfEffects, TwoTriggersOfColumnsGateTheColumnsOfBoth) {
  catalog.trigger(posts, pay, on_update, {"paid"});
  catalog.trigger(posts, pay, on_update, {"state"});
  EXPECT_EQ(columns_of(catalog.closure(), "posts", closure_access::update),
            (std::vector<std::string>{"paid", "state"}));
}

TEST_F(ClosureOfEffects, ADisabledTriggerDoesNotFire) {
  catalog.trigger(posts, pay, on_insert, {}, 'D');
  EXPECT_EQ(posts_after(), "");
}

TEST_F(ClosureOfEffects, ATriggerThatFiresAlwaysOrOnReplicasCounts) {
  catalog.trigger(posts, pay, on_insert, {}, 'A');
  catalog.trigger(posts, pay, on_delete, {}, 'R');
  EXPECT_EQ(posts_after(), "---i-d-");
}

TEST_F(ClosureOfEffects, ATriggersConditionMayCallAFunction) {
  const object_id harmless = catalog.function("nothing", "begin return new; end");
  catalog.trigger(posts, harmless, on_insert);
  depends_on_pay(object_class::trigger, catalog.rows.triggers.back().oid);
  EXPECT_EQ(posts_after(), "---i---");
}

TEST_F(ClosureOfEffects, ATriggerThatWritesTheControlRowMakesATransition) {
  const object_id change =
      catalog.function("change", "begin update mode_control set mode = new.mode; return new; end");
  catalog.trigger(posts, change, on_update);
  EXPECT_EQ(posts_after(), "----U--");
}

TEST_F(ClosureOfEffects, ATriggerThatReadsTheControlRowMakesATouch) {
  const object_id look = catalog.function("look", "begin perform mode from mode_control; return new; end");
  catalog.trigger(posts, look, on_insert);
  EXPECT_EQ(posts_after(), "---i---");
}

struct foreign_key_case {
  const char* name;
  char on_delete;
  char on_update;
  const char* expected;
};

TEST(ClosureOfForeignKeys, OnlyActionsThatWriteTheChildCount) {
  const foreign_key_case cases[] = {{"no action", 'a', 'a', "------t"},
                                    {"restrict", 'r', 'r', "------t"},
                                    {"cascade", 'c', 'c', "----udt"},
                                    {"set null", 'n', 'a', "-----dt"},
                                    {"set default", 'd', 'a', "-----dt"}};
  for (const foreign_key_case& each : cases) {
    sample_catalog catalog;
    const object_id parent = catalog.table("accounts");
    catalog.rows.foreign_keys.push_back(
        {"fk", catalog.ledger, parent, each.on_delete, each.on_update, {"account_id"}, {"id"}});
    EXPECT_EQ(accesses_of(catalog.closure(), "accounts"), each.expected) << each.name;
  }
}

TEST(ClosureOfForeignKeys, AnUpdateCascadesOnlyFromTheReferencedColumns) {
  sample_catalog catalog;
  const object_id parent = catalog.table("accounts");
  catalog.rows.foreign_keys.push_back({"fk", catalog.ledger, parent, 'a', 'c', {"account_id"}, {"id"}});
  EXPECT_EQ(columns_of(catalog.closure(), "accounts", closure_access::update),
            std::vector<std::string>{"id"});
}

TEST(ClosureOfForeignKeys, SetNullOfAnUngatedColumnIsNoTouch) {
  sample_catalog catalog;
  const object_id parent = catalog.table("countries");
  catalog.rows.foreign_keys.push_back({"fk", catalog.users, parent, 'n', 'a', {"country"}, {"id"}});
  EXPECT_EQ(accesses_of(catalog.closure(), "countries"), "------t");
}

TEST(ClosureOfForeignKeys, CascadesChain) {
  sample_catalog catalog;
  const object_id middle = catalog.table("wallets");
  const object_id top = catalog.table("accounts");
  catalog.rows.foreign_keys.push_back({"low", catalog.ledger, middle, 'c', 'a', {"wallet"}, {"id"}});
  catalog.rows.foreign_keys.push_back({"high", middle, top, 'c', 'a', {"account"}, {"id"}});
  EXPECT_EQ(accesses_of(catalog.closure(), "accounts"), "-----dt");
}

TEST(ClosureOfForeignKeys, ACascadeFiresTheTriggersOfTheChild) {
  sample_catalog catalog;
  const object_id child = catalog.table("wallets");
  const object_id parent = catalog.table("accounts");
  catalog.trigger(child, catalog.function("f", "begin delete from ledger; return old; end"), on_delete);
  catalog.rows.foreign_keys.push_back({"fk", child, parent, 'c', 'a', {"account"}, {"id"}});
  EXPECT_EQ(accesses_of(catalog.closure(), "accounts"), "-----d-");
}

TEST_F(ClosureOfEffects, ADefaultGatesInsertAndTheColumnItself) {
  const object_id value = catalog.next_oid();
  catalog.rows.defaults.push_back({value, posts, "amount", ' '});
  depends_on_pay(object_class::default_value, value);
  EXPECT_EQ(posts_after(), "---iu--");
  EXPECT_EQ(columns_of(catalog.closure(), "posts", closure_access::update),
            std::vector<std::string>{"amount"});
}

TEST_F(ClosureOfEffects, AGeneratedColumnGatesEveryWriteOfARow) {
  const object_id value = catalog.next_oid();
  catalog.rows.defaults.push_back({value, posts, "amount", 's'});
  depends_on_pay(object_class::default_value, value);
  EXPECT_EQ(posts_after(), "---iu--");
  EXPECT_TRUE(columns_of(catalog.closure(), "posts", closure_access::update).empty());
}

TEST_F(ClosureOfEffects, AVirtualColumnGatesReadingToo) {
  const object_id value = catalog.next_oid();
  catalog.rows.defaults.push_back({value, posts, "amount", 'v'});
  depends_on_pay(object_class::default_value, value);
  EXPECT_EQ(posts_after()[0], 'r');
}

TEST_F(ClosureOfEffects, ACheckGatesWrites) {
  const object_id check = catalog.next_oid();
  catalog.rows.checks.push_back({check, posts, 0, "c"});
  depends_on_pay(object_class::constraint, check);
  EXPECT_EQ(posts_after(), "---iu--");
}

TEST_F(ClosureOfEffects, AnIndexExpressionGatesWrites) {
  const object_id index = catalog.next_oid();
  catalog.rows.indexes.push_back({index, posts, "i"});
  depends_on_pay(object_class::relation, index);
  EXPECT_EQ(posts_after(), "---iu--");
}

struct policy_case {
  char command;
  const char* expected;
};

TEST(ClosureOfPolicies, EachCommandGatesWhatItAppliesTo) {
  for (const policy_case& each : {policy_case{'r', "rsliud-"},
                                  {'a', "---i---"},
                                  {'w', "-sl-u--"},
                                  {'d', "-----d-"},
                                  {'*', "rsliud-"}}) {
    sample_catalog catalog;
    const object_id guarded = catalog.table("guarded");
    const object_id policy = catalog.next_oid();
    catalog.rows.policies.push_back({policy, guarded, "p", each.command, "1"});
    catalog.depends(object_class::policy, policy, object_class::relation, catalog.ledger);
    EXPECT_EQ(accesses_of(catalog.closure(), "guarded"), each.expected) << each.command;
  }
}

TEST(ClosureOfPolicies, ASubqueryThatOnlyReadsALockedTableIsNoTouch) {
  sample_catalog catalog;
  const object_id guarded = catalog.table("guarded");
  const object_id policy = catalog.next_oid();
  catalog.rows.policies.push_back({policy, guarded, "p", '*', "1"});
  catalog.depends(object_class::policy, policy, object_class::relation, catalog.balances);
  EXPECT_EQ(accesses_of(catalog.closure(), "guarded"), "");
}

TEST_F(ClosureOfEffects, ADomainsCheckGatesWritesOfItsColumnsAndItsName) {
  const object_id domain = catalog.next_oid();
  const object_id check = catalog.next_oid();
  catalog.rows.types.push_back({domain, "app", "account", 'd', 0});
  catalog.rows.checks.push_back({check, 0, domain, "c"});
  depends_on_pay(object_class::constraint, check);
  catalog.depends(object_class::relation, posts, object_class::type, domain);
  const auto report = catalog.closure();
  EXPECT_EQ(accesses_of(report, "posts"), "---iu--");
  EXPECT_EQ(touch_of(report.closure->types, "account"), touch_kind::touch);
}

TEST_F(ClosureOfEffects, ATypesOwnFunctionsGateReadingItsColumns) {
  const object_id type = catalog.next_oid();
  catalog.rows.types.push_back({type, "app", "money_box", 'b', 0});
  depends_on_pay(object_class::type, type);
  catalog.depends(object_class::relation, posts, object_class::type, type);
  EXPECT_EQ(posts_after(), "rsliud-");
}

TEST_F(ClosureOfEffects, ACastGatesTheTypesItJoins) {
  const object_id type = catalog.next_oid();
  const object_id cast = catalog.next_oid();
  catalog.rows.types.push_back({type, "app", "money_box", 'b', 0});
  catalog.rows.casts.push_back({cast, type, 23});
  depends_on_pay(object_class::cast, cast);
  EXPECT_EQ(touch_of(catalog.closure().closure->types, "money_box"), touch_kind::touch);
}

TEST_F(ClosureOfEffects, ACastOfARowGatesWhateverIsDoneToTheTable) {
  const object_id table = catalog.table("journal");
  const object_id type = catalog.next_oid();
  const object_id cast = catalog.next_oid();
  catalog.rows.types.push_back({type, "app", "journal", 'c', table});
  catalog.rows.casts.push_back({cast, type, 20});
  depends_on_pay(object_class::cast, cast);
  EXPECT_EQ(accesses_of(catalog.closure(), "journal"), "rsliud-");
}

TEST_F(ClosureOfEffects, ACheckedColumnGatesMakingARowOfTheTableButNotReadingIt) {
  const object_id table = catalog.table("holders");
  const object_id type = catalog.next_oid();
  const object_id domain = catalog.next_oid();
  const object_id check = catalog.next_oid();
  catalog.rows.types.push_back({domain, "app", "account", 'd', 0});
  catalog.rows.checks.push_back({check, 0, domain, "known"});
  depends_on_pay(object_class::constraint, check);
  catalog.rows.types.push_back({type, "app", "holders", 'c', table});
  catalog.depends(object_class::relation, table, object_class::type, domain);
  const auto report = catalog.closure();
  EXPECT_EQ(touch_of(report.closure->types, "holders"), touch_kind::touch);
  EXPECT_EQ(accesses_of(report, "holders"), "---iu--");
}

TEST_F(ClosureOfEffects, ACastBetweenBuiltInTypesIsReportedAsUnseen) {
  const object_id cast = catalog.next_oid();
  catalog.rows.casts.push_back({cast, 25, 23});
  depends_on_pay(object_class::cast, cast);
  const auto report = catalog.closure();
  ASSERT_EQ(report.unseen.size(), 1U);
  EXPECT_EQ(report.unseen[0].kind, "cast");
}

TEST_F(ClosureOfEffects, AnOperatorGatesItsSymbol) {
  const object_id op = catalog.next_oid();
  catalog.rows.operators.push_back({op, "app", "===", 23, 23});
  depends_on_pay(object_class::operation, op);
  EXPECT_EQ(touch_of(catalog.closure().closure->operators, "==="), touch_kind::touch);
}

TEST_F(ClosureOfEffects, AnOperatorThatNeedNotBeWrittenGatesItsTypes) {
  const object_id type = catalog.next_oid();
  const object_id op = catalog.next_oid();
  catalog.rows.types.push_back({type, "app", "money_box", 'b', 0});
  catalog.rows.operators.push_back({op, "app", "=", type, type});
  depends_on_pay(object_class::operation, op);
  catalog.depends(object_class::relation, posts, object_class::type, type);
  EXPECT_EQ(posts_after()[0], 'r');
}

TEST_F(ClosureOfEffects, AnEventTriggerGatesDefinitions) {
  catalog.rows.event_triggers.push_back({"audit", "ddl_command_end", pay, 'O'});
  EXPECT_EQ(catalog.closure().closure->definitions, touch_kind::touch);
}

TEST_F(ClosureOfEffects, ADisabledEventTriggerGatesNothing) {
  catalog.rows.event_triggers.push_back({"audit", "ddl_command_end", pay, 'D'});
  EXPECT_EQ(catalog.closure().closure->definitions, touch_kind::none);
}

TEST_F(ClosureOfEffects, ALoginTriggerIsReportedAsUnseen) {
  catalog.rows.event_triggers.push_back({"hello", "login", pay, 'O'});
  const auto report = catalog.closure();
  ASSERT_EQ(report.unseen.size(), 1U);
  EXPECT_EQ(report.unseen[0].kind, "event trigger");
  EXPECT_EQ(report.closure->definitions, touch_kind::none);
}

} // namespace
} // namespace ledgergate::test
