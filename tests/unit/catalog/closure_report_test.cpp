#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/catalog/sample_catalog.hpp"

namespace ledgergate::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const catalog::gated_object* find(const catalog::catalog_report& report, const std::string& name) {
  const auto at = std::find_if(report.gated.begin(), report.gated.end(),
                               [&](const auto& each) { return each.name == name; });
  return at != report.gated.end() ? &*at : nullptr;
}

TEST(CatalogReport, GivesTheChainOfReasonsDownToTheConfiguration) {
  sample_catalog catalog;
  const object_id posts = catalog.table("posts");
  catalog.trigger(posts, catalog.function("pay", "begin delete from ledger; end"), on_insert);
  catalog.view("post_list", {posts});
  const auto report = catalog.closure();
  const auto* list = find(report, "post_list");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->kind, "view");
  ASSERT_THAT(list->accesses, SizeIs(1));
  EXPECT_THAT(list->accesses[0].accesses, ElementsAre("insert"));
  EXPECT_FALSE(list->accesses[0].configured);
  EXPECT_THAT(list->accesses[0].why,
              ElementsAre("view over app.posts", "trigger t on insert calls app.pay",
                          "the body of app.pay mentions app.ledger", "configured, pin_on: any"));
}

TEST(CatalogReport, ConfiguredNamesComeFirst) {
  sample_catalog catalog;
  catalog.view("a_view", {catalog.ledger});
  const auto report = catalog.closure();
  ASSERT_FALSE(report.gated.empty());
  EXPECT_TRUE(report.gated.front().accesses.front().configured);
  EXPECT_FALSE(report.gated.back().accesses.front().configured);
}

TEST(CatalogReport, AConfiguredNameThatDoesNotExistIsListedWithoutAnOid) {
  const auto report = sample_catalog().closure();
  const auto* credit = find(report, "post_credit");
  ASSERT_NE(credit, nullptr);
  EXPECT_EQ(credit->oid, 0U);
}

TEST(CatalogReport, ListsFunctionsThatCannotBeLookedInto) {
  sample_catalog catalog;
  catalog.function("built", "begin execute statement; end");
  catalog.function("seen", "begin execute 'delete from ledger'; end");
  catalog.function("plain", "begin return 1; end");
  catalog.function("foreign_one", "return 1", "plpython3u");
  std::vector<std::string> names;
  for (const auto& each : catalog.closure().unseen)
    names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("built", "foreign_one"));
}

TEST(CatalogReport, CountsTheCFunctionsOfAnExtensionTogether) {
  sample_catalog catalog;
  for (const char* name : {"a", "b"}) {
    catalog.function(name, "symbol", "c");
    catalog.rows.functions.back().extension = "postgis";
  }
  const auto report = catalog.closure();
  ASSERT_THAT(report.unseen, SizeIs(1));
  EXPECT_EQ(report.unseen[0].name, "postgis");
  EXPECT_EQ(report.unseen[0].why, "has 2 functions in C");
}

TEST(CatalogReport, KnowsEveryFunctionByOid) {
  sample_catalog catalog;
  const object_id plain = catalog.function("plain", "begin return 1; end");
  const object_id gated = catalog.function("gated", "begin delete from ledger; end");
  const auto report = catalog.closure();
  EXPECT_THAT(report.closure->known_functions, ElementsAre(plain, gated));
  const auto& functions = report.closure->functions;
  EXPECT_TRUE(std::any_of(functions.begin(), functions.end(), [&](const auto& f) { return f.oid == gated; }));
}

TEST(InitialClosure, IsClosedUnlessTheNamesAloneAreWanted) {
  config::settings settings = horde_settings();
  ASSERT_NE(catalog::initial_closure(settings), nullptr);
  EXPECT_TRUE(catalog::initial_closure(settings)->unread);
  settings.gate.catalog.on_error = config::catalog_on_error::names_only;
  EXPECT_EQ(catalog::initial_closure(settings), nullptr);
  settings.gate.catalog = {false, {}, config::catalog_on_error::closed};
  EXPECT_EQ(catalog::initial_closure(settings), nullptr);
}

TEST(CatalogReport, AnEmptyDatabaseGatesTheConfiguredNames) {
  const auto report = catalog::make_closure({}, horde_settings());
  EXPECT_THAT(report.unseen, IsEmpty());
  EXPECT_EQ(accesses_of(report, "ledger"), "rsliudt");
}

} // namespace
} // namespace ledgergate::test
