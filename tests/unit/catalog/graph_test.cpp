#include "proxy/catalog/graph.hpp"

#include <gtest/gtest.h>

namespace ledgergate::catalog {
namespace {

using sql::touch_kind;

link make_link(way_id from, way_id to, const char* reason = "because") {
  link made;
  made.from = from;
  made.to = to;
  made.reason = reason;
  return made;
}

TEST(Graph, ClosesOverChainsAndLoops) {
  graph ways;
  const way_id a = ways.add_ways(4);
  ways.add(make_link(a, a + 1));
  ways.add(make_link(a + 1, a));
  ways.add(make_link(a + 1, a + 2));
  ways.seed(a + 2, touch_kind::touch, {}, "configured");
  ways.close();
  EXPECT_EQ(ways.at(a).touch, touch_kind::touch);
  EXPECT_EQ(ways.at(a + 3).touch, touch_kind::none);
  EXPECT_EQ(ways.at(a).because_of, a + 1);
  EXPECT_FALSE(ways.at(a + 2).because_of);
}

TEST(Graph, AStrongerTouchReplacesTheReason) {
  graph ways;
  const way_id a = ways.add_ways(3);
  ways.add(make_link(a, a + 1, "the touch"));
  ways.add(make_link(a, a + 2, "the transition"));
  ways.seed(a + 1, touch_kind::touch, {}, "configured");
  ways.seed(a + 2, touch_kind::transition, {}, "configured");
  ways.close();
  EXPECT_EQ(ways.at(a).touch, touch_kind::transition);
  EXPECT_EQ(ways.at(a).reason, "the transition");
}

TEST(Graph, ALinkThatAssignsOtherColumnsDoesNotCount) {
  graph ways;
  const way_id a = ways.add_ways(3);
  link misses = make_link(a, a + 2);
  misses.assigned = std::make_shared<const column_names>(column_names{"bio"});
  link hits = make_link(a + 1, a + 2);
  hits.assigned = std::make_shared<const column_names>(column_names{"bio", "kudos"});
  ways.add(misses);
  ways.add(hits);
  ways.seed(a + 2, touch_kind::touch, {"kudos"}, "configured");
  ways.close();
  EXPECT_EQ(ways.at(a).touch, touch_kind::none);
  EXPECT_EQ(ways.at(a + 1).touch, touch_kind::touch);
}

TEST(Graph, WordsCannotRuleOutAColumnWhoseNameIsNoWord) {
  graph ways;
  const way_id a = ways.add_ways(2);
  link by_word = make_link(a, a + 1);
  by_word.assigned = std::make_shared<const column_names>(column_names{"update"});
  by_word.assigned_by_word = true;
  ways.add(by_word);
  ways.seed(a + 1, touch_kind::touch, {"Kudos Total"}, "configured");
  ways.close();
  EXPECT_EQ(ways.at(a).touch, touch_kind::touch);
}

TEST(Graph, EveryWriteAbsorbsNamedColumns) {
  graph ways;
  const way_id a = ways.add_ways(3);
  link narrow = make_link(a, a + 1);
  narrow.only_if = {"state"};
  ways.add(narrow);
  ways.add(make_link(a, a + 2));
  ways.seed(a + 1, touch_kind::touch, {}, "configured");
  ways.seed(a + 2, touch_kind::touch, {}, "configured");
  ways.close();
  EXPECT_TRUE(ways.at(a).columns.empty());
}

TEST(Graph, ColumnsThatBecomeMoreAreCarriedOn) {
  graph ways;
  const way_id a = ways.add_ways(4);
  link renamed = make_link(a, a + 1);
  renamed.renamed = std::make_shared<const column_map>(column_map{{"x", "X"}, {"y", "Y"}});
  ways.add(renamed);
  link first = make_link(a + 1, a + 2);
  first.only_if = {"x"};
  link second = make_link(a + 1, a + 3);
  second.only_if = {"y"};
  ways.add(first);
  ways.add(second);
  ways.seed(a + 2, touch_kind::touch, {}, "configured");
  ways.seed(a + 3, touch_kind::touch, {}, "configured");
  ways.close();
  EXPECT_EQ(ways.at(a).columns, (column_names{"X", "Y"}));
}

} // namespace
} // namespace ledgergate::catalog
