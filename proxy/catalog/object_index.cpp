#include "proxy/catalog/object_index.hpp"

#include <utility>

#include "proxy/catalog/body_reader.hpp"
#include "proxy/sql/schema_name.hpp"

namespace ledgergate::catalog {

namespace {

std::uint64_t key_of(object_kind kind, object_id oid) {
  return (static_cast<std::uint64_t>(kind) << 32U) | oid;
}

const char* what_is(const relation_row& row) {
  switch (row.kind) {
  case 'v': return "view";
  case 'm': return "materialized view";
  case 'f': return "foreign table";
  default: return row.is_partition ? "partition" : "table";
  }
}

const char* what_is(const function_row& row) {
  switch (row.kind) {
  case 'p': return "procedure";
  case 'a': return "aggregate";
  default: return "function";
  }
}

/// `of_relation`: its columns are those of a table or view.
const char* what_is(const type_row& row, bool of_relation) {
  return row.kind == 'd' ? "domain" : of_relation ? "row type" : "type";
}

} // namespace

std::size_t object::way_count() const {
  switch (kind) {
  case object_kind::relation: return sql::closure_access_count;
  case object_kind::type: return 2;
  case object_kind::function:
  case object_kind::operation: break;
  }
  return 1;
}

object_index::object_index(const catalog_rows& rows, graph& ways) {
  for (const relation_row& row : rows.relations)
    add({object_kind::relation, row.oid, row.schema, row.name, what_is(row), 0}, ways);
  for (const function_row& row : rows.functions)
    add({object_kind::function, row.oid, row.schema, row.name, what_is(row), 0}, ways);
  for (const operator_row& row : rows.operators)
    add({object_kind::operation, row.oid, row.schema, row.name, "operator", 0}, ways);
  for (const type_row& row : rows.types) {
    const bool of_relation = row.relation != 0 && find(object_kind::relation, row.relation) != nullptr;
    add({object_kind::type, row.oid, row.schema, row.name, what_is(row, of_relation), 0}, ways);
  }
}

std::size_t object_index::add(object made, graph& ways) {
  made.first_way = ways.add_ways(made.way_count());
  const std::size_t index = objects_.size();
  if (made.oid != 0) by_oid_.emplace(key_of(made.kind, made.oid), index);
  by_name_.emplace(made.name, index);
  std::string word = folded(made.name);
  if (is_one_word(word)) {
    by_word_[std::move(word)].push_back(index);
  } else {
    odd_.push_back(index);
  }
  objects_.push_back(std::move(made));
  return index;
}

const object* object_index::find(object_kind kind, object_id oid) const {
  const auto at = by_oid_.find(key_of(kind, oid));
  return at != by_oid_.end() ? &objects_[at->second] : nullptr;
}

std::vector<const object*> object_index::named(object_kind kind, const std::string& schema,
                                               const std::string& name) const {
  std::vector<const object*> found;
  const auto [first, last] = by_name_.equal_range(name);
  for (auto at = first; at != last; ++at) {
    const object& candidate = objects_[at->second];
    if (candidate.kind == kind && sql::may_be_same_schema(candidate.schema, schema))
      found.push_back(&candidate);
  }
  return found;
}

const std::vector<std::size_t>& object_index::spelled(const std::string& folded_word) const {
  static const std::vector<std::size_t> none;
  const auto at = by_word_.find(folded_word);
  return at != by_word_.end() ? at->second : none;
}

const object& object_index::add_unknown(object_kind kind, std::string schema, std::string name, graph& ways) {
  const char* what = kind == object_kind::function ? "function" : "table";
  return objects_[add({kind, 0, std::move(schema), std::move(name), what, 0}, ways)];
}

} // namespace ledgergate::catalog
