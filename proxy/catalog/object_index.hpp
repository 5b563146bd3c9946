// Every object of the catalogs with its ways in the graph, found by OID and by name.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/catalog/graph.hpp"
#include "proxy/catalog/rows.hpp"

namespace ledgergate::catalog {

enum class object_kind : std::uint8_t { relation, function, operation, type };

/// One object. Its ways are consecutive: a relation has one for each closure_access, a type one for making
/// values of it and one for using them, the others have one.
struct object {
  object_kind kind = object_kind::relation;
  object_id oid = 0; ///< 0: named in the configuration only
  std::string schema;
  std::string name;
  std::string what; ///< table, view, function, ..
  way_id first_way = 0;

  std::size_t way_count() const;
  way_id way(sql::closure_access how) const { return first_way + static_cast<way_id>(how); }
  way_id making() const { return first_way; }
  way_id using_it() const { return first_way + (kind == object_kind::type ? 1U : 0U); }
};

class object_index {
 public:
  object_index(const catalog_rows& rows, graph& ways);

  /// Null when the catalogs do not have it.
  const object* find(object_kind kind, object_id oid) const;
  /// All of that name whose schemas may be the same.
  std::vector<const object*> named(object_kind kind, const std::string& schema,
                                   const std::string& name) const;
  /// The same for a folded word of a text, which may stand for a name in any case.
  const std::vector<std::size_t>& spelled(const std::string& folded_word) const;
  /// Objects whose names are no single words, and operators: to be searched for in a text.
  const std::vector<std::size_t>& odd_names() const { return odd_; }

  /// A name that only the configuration knows.
  const object& add_unknown(object_kind kind, std::string schema, std::string name, graph& ways);

  const object& at(std::size_t index) const { return objects_[index]; }
  std::size_t size() const { return objects_.size(); }

 private:
  std::size_t add(object made, graph& ways);

  std::deque<object> objects_; ///< in place for good: pointers to them stay
  std::unordered_map<std::uint64_t, std::size_t> by_oid_;
  std::unordered_multimap<std::string, std::size_t> by_name_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_word_;
  std::vector<std::size_t> odd_;
};

} // namespace ledgergate::catalog
