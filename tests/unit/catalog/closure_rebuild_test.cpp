// What maintenance and ALTER TABLE run over the rows that are there; and that every kind of link can be left
// out.
#include <gtest/gtest.h>

#include "tests/unit/catalog/sample_catalog.hpp"

namespace ledgergate::test {
namespace {

using catalog::link_kind;

struct ClosureOfRebuilds : testing::Test {
  ClosureOfRebuilds()
      : posts(catalog.table("posts")), pay(catalog.function("pay", "begin delete from ledger; end")) {}
  void depends_on_pay(object_class of, object_id object) {
    catalog.depends(of, object, object_class::function, pay);
  }
  touch_kind of(closure_access how) const { return access_of(catalog.closure(), "posts", how); }

  sample_catalog catalog;
  const object_id posts;
  const object_id pay;
};

TEST_F(ClosureOfRebuilds, AnIndexIsComputedWheneverItIsBuilt) {
  const object_id index = catalog.next_oid();
  catalog.rows.indexes.push_back({index, posts, "i"});
  depends_on_pay(object_class::relation, index);
  EXPECT_EQ(of(closure_access::rebuild), touch_kind::touch);
  EXPECT_EQ(of(closure_access::rewrite), touch_kind::touch);
  EXPECT_EQ(catalog.closure().closure->rebuilds, touch_kind::touch);
}

TEST_F(ClosureOfRebuilds, StatisticsAreComputedByMaintenanceAlone) {
  const object_id statistics = catalog.next_oid();
  catalog.rows.statistics.push_back({statistics, posts, "s"});
  depends_on_pay(object_class::statistics, statistics);
  EXPECT_EQ(of(closure_access::rebuild), touch_kind::touch);
  EXPECT_EQ(accesses_of(catalog.closure(), "posts"), "-------");
}

TEST_F(ClosureOfRebuilds, ACheckIsMadeByARewriteAndNotByMaintenance) {
  const object_id check = catalog.next_oid();
  catalog.rows.checks.push_back({check, posts, 0, "c"});
  depends_on_pay(object_class::constraint, check);
  EXPECT_EQ(of(closure_access::rewrite), touch_kind::touch);
  EXPECT_EQ(of(closure_access::rebuild), touch_kind::none);
  EXPECT_EQ(catalog.closure().closure->rebuilds, touch_kind::none);
}

TEST_F(ClosureOfRebuilds, ValidatingAForeignKeyReadsTheOtherTable) {
  catalog.rows.foreign_keys.push_back({"fk", posts, catalog.ledger, 'a', 'a', {"entry"}, {"id"}});
  EXPECT_EQ(of(closure_access::rewrite), touch_kind::touch);
  EXPECT_EQ(of(closure_access::rebuild), touch_kind::none);
}

TEST_F(ClosureOfRebuilds, AFunctionThatDefinesFiresEventTriggers) {
  catalog.rows.event_triggers.push_back({"e", "ddl_command_end", pay, 'O'});
  catalog.function("maker", "begin create temp table t (id int); end");
  catalog.function("parsed_maker", "create temp table t (id int)", "sql");
  catalog.function("reader", "begin return (select 1); end");
  const auto report = catalog.closure();
  EXPECT_EQ(call_of(report, "maker"), touch_kind::touch);
  EXPECT_EQ(call_of(report, "parsed_maker"), touch_kind::touch);
  EXPECT_EQ(call_of(report, "reader"), touch_kind::none);
}

TEST_F(ClosureOfRebuilds, AKindOfLinkThatIsLeftOutLeadsNowhere) {
  catalog.trigger(posts, pay, on_insert);
  catalog::link_switch kept;
  kept.leave_out(link_kind::trigger);
  EXPECT_EQ(accesses_of(catalog::make_closure(catalog.rows, horde_settings(), kept), "posts"), "");
  EXPECT_EQ(accesses_of(catalog.closure(), "posts"), "---i---");
}

TEST(LinkKinds, AreFoundByTheirNames) {
  for (std::size_t i = 0; i < catalog::link_kind_count; ++i) {
    const auto kind = static_cast<link_kind>(i);
    EXPECT_EQ(catalog::link_named(to_string(kind)), kind);
  }
  EXPECT_FALSE(catalog::link_named("gossip"));
}

} // namespace
} // namespace ledgergate::test
