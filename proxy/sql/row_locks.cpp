#include "proxy/sql/row_locks.hpp"

#include <algorithm>
#include <string_view>

#include "proxy/sql/tree_node.hpp"

namespace ledgergate::sql {

namespace {

access_kind lock_strength(std::string_view strength) {
  if (strength == "LCS_FORKEYSHARE") return access_kind::lock_for_key_share;
  if (strength == "LCS_FORSHARE") return access_kind::lock_for_share;
  if (strength == "LCS_FORNOKEYUPDATE") return access_kind::lock_for_no_key_update;
  return access_kind::lock_for_update;
}

/// The name by which an item of a FROM list is known to FOR UPDATE OF.
std::string_view visible_name(const json::object& item, std::string_view otherwise) {
  const json::object* alias = object_of(item, "alias");
  return alias != nullptr ? text_of(*alias, "aliasname") : otherwise;
}

// FOR UPDATE locks the rows of the FROM items it names (all of them when it names none), and reaches through
// sub-selects in FROM to the tables in theirs. It does not reach into WITH queries.
void note_locked(const json::object& select, const json::object& clause, std::vector<locked_relation>& out) {
  const access_kind how = lock_strength(text_of(clause, "strength"));
  std::vector<std::string_view> names;
  if (const json::array* locked = array_of(clause, "lockedRels")) {
    for (const json::value& item : *locked) {
      if (const json::object* node = node_of(item, "RangeVar")) names.push_back(text_of(*node, "relname"));
    }
  }
  struct item {
    const json::value* value;
    bool chosen;
  };
  std::vector<item> items;
  const auto add_all = [&](const json::object& from, bool chosen) {
    const json::array* list = array_of(from, "fromClause");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      items.push_back({&(*list)[i], chosen});
  };
  const auto is_named = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  add_all(select, names.empty());
  while (!items.empty()) {
    const auto [value, chosen] = items.back();
    items.pop_back();
    if (const json::object* table = node_of(*value, "RangeVar")) {
      if (chosen || is_named(visible_name(*table, text_of(*table, "relname")))) out.push_back({table, how});
    } else if (const json::object* join = node_of(*value, "JoinExpr")) {
      for (const std::string_view side : {"larg", "rarg"}) {
        if (const json::value* operand = join->if_contains(side)) items.push_back({operand, chosen});
      }
    } else if (const json::object* sample = node_of(*value, "RangeTableSample")) {
      if (const json::value* relation = sample->if_contains("relation")) items.push_back({relation, chosen});
    } else if (const json::object* sub = node_of(*value, "RangeSubselect")) {
      const json::value* query = sub->if_contains("subquery");
      const json::object* inner = query != nullptr ? node_of(*query, "SelectStmt") : nullptr;
      if (inner != nullptr && (chosen || is_named(visible_name(*sub, {})))) add_all(*inner, true);
    }
  }
}

} // namespace

std::vector<locked_relation> locked_relations(const json::object& select) {
  std::vector<locked_relation> out;
  const json::array* clauses = array_of(select, "lockingClause");
  for (std::size_t i = 0; clauses != nullptr && i < clauses->size(); ++i) {
    if (const json::object* clause = node_of((*clauses)[i], "LockingClause"))
      note_locked(select, *clause, out);
  }
  return out;
}

} // namespace ledgergate::sql
