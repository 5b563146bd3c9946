// What keeps the parser safe, on random statements that the grammar accepts: the tree is never deeper or
// larger than measured.
#include <algorithm>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <pg_query.h>

#include "proxy/sql/complexity.hpp"
#include "tests/support/json_depth.hpp"
#include "tests/support/seeded_random.hpp"

namespace ledgergate::sql {
namespace {

/// Writes random SQL: each rule takes one of several forms, and the budget keeps it finite.
class sql_writer {
 public:
  explicit sql_writer(std::uint32_t seed) : random_(seed) {}

  std::string statement() {
    budget_ = 1 + static_cast<int>(random_() % 60);
    switch (pick(6)) {
    case 0: return query();
    case 1: return "insert into t (a, b) " + query();
    case 2: return "update t set a = " + expression() + ", (b, c) = " + source();
    case 3: return "delete from t using " + from_item() + " where " + expression();
    case 4: return "with w as (" + query() + ") " + query();
    default: return "explain " + query();
    }
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  bool spent() { return --budget_ <= 0; }

  std::string query() {
    if (spent()) return "select 1";
    switch (pick(7)) {
    case 0: return query() + " union all select " + expression() + ", " + expression();
    case 1: return "(" + query() + ") except (" + query() + ")";
    case 2: return "values (" + expression() + ", " + expression() + ")";
    case 3: return "with q as (update t set (a, b) = " + source() + " returning *) select * from q";
    case 4: return "select 1 from t group by grouping sets ((" + expression() + "), (a))";
    default: return "select " + expression() + " as x, y from " + from_item() + " where " + expression();
    }
  }

  std::string source() {
    return pick(2) == 0 ? "(" + expression() + ", " + expression() + ")"
                        : "(select 1, 2 from " + from_item() + ")";
  }

  std::string from_item() {
    if (spent()) return "t";
    switch (pick(5)) {
    case 0: return "(" + query() + ") s";
    case 1: return from_item() + " cross join " + from_item();
    case 2: return from_item() + " join t on " + expression();
    case 3: return "lateral f(" + expression() + ") g";
    default: return "t, u";
    }
  }

  std::string expression() {
    if (spent()) return "a";
    switch (pick(18)) {
    case 0: return expression() + " + " + expression();
    case 1: return "(" + expression() + ")";
    case 2: return "f(" + expression() + ", b)";
    case 3: return "case when " + expression() + " then " + expression() + " else " + expression() + " end";
    case 4: return "not (" + expression() + ")";
    case 5: return "(" + query() + ")";
    case 6: return "exists (" + query() + ")";
    case 7: return "(" + expression() + ")::int::text";
    case 8: return "array[" + expression() + ", 2]";
    case 9: return "row(" + expression() + ", 2)";
    case 10: return "a in (" + expression() + ", 2)";
    case 11: return "(a and " + expression() + " or b)";
    case 12: return "- - (" + expression() + ")";
    case 13: return "sum(a) filter (where " + expression() + ") over (partition by b)";
    case 14: return "(" + expression() + ").x.y[1]";
    case 15: return "a = any (" + query() + ")";
    case 16: return "xmlelement(name n, " + expression() + ")";
    default: return "'(' || $$)$$ || E'\\')' || " + expression();
    }
  }

  std::mt19937 random_;
  int budget_ = 0;
};

TEST(ComplexityBound, TheTreeIsNeverDeeperOrLargerThanMeasured) {
  sql_writer writer(test::chosen_seed());
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = writer.statement();
    const complexity measured = measure(text);
    if (measured.depth > max_depth || measured.expanded_bytes > max_expanded_bytes) continue;
    const PgQueryParseResult parsed = pg_query_parse(text.c_str());
    if (parsed.error == nullptr) {
      ++accepted;
      const std::string_view tree = parsed.parse_tree;
      EXPECT_LE(test::json_depth(tree), 6 * measured.depth + 16) << text;
      EXPECT_LE(tree.size(), 200 * (measured.expanded_bytes + 10)) << text;
    }
    pg_query_free_parse_result(parsed);
  }
  EXPECT_GT(accepted, 1000) << "the generator must write what the grammar accepts";
}

} // namespace
} // namespace ledgergate::sql
