// What the system catalogs say leads to the ledger, ready for the touch rules: names, and for each the ways
// of reaching it that touch. Made by proxy/catalog from the catalogs' rows; a value, shared and never
// changed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/sql/classifier.hpp"
#include "proxy/sql/statement_facts.hpp"

namespace ledgergate::sql {

/// What a statement does with a relation, as far as it makes a difference here.
enum class closure_access : std::uint8_t {
  read,
  lock_for_reading, ///< FOR [KEY] SHARE, LOCK TABLE in a mode of readers
  lock_for_writing, ///< FOR [NO KEY] UPDATE, LOCK TABLE in any other mode
  insert,
  update,
  remove, ///< DELETE
  truncate,
  rebuild, ///< VACUUM, ANALYZE, CLUSTER, REINDEX, CREATE INDEX: what indexes and statistics compute
  rewrite, ///< ALTER TABLE that fills, converts or checks the rows that are there
};
inline constexpr std::size_t closure_access_count = 9;

closure_access closure_access_of(access_kind how);
const char* to_string(closure_access access);

/// One way of reaching a relation.
struct closure_touch {
  touch_kind touch = touch_kind::none;
  /// With insert and update: only a statement that assigns one of these touches. Empty: any does.
  std::vector<std::string> columns;
};

struct closure_relation {
  std::string schema;
  std::string name;
  std::array<closure_touch, closure_access_count> on;
};

/// A function, procedure, aggregate, operator or type whose use touches. `oid` is set for what is called.
struct closure_name {
  std::string schema;
  std::string name;
  touch_kind touch = touch_kind::touch;
  std::uint32_t oid = 0;
};

struct catalog_closure {
  /// The catalogs were not read yet: whatever is not clearly harmless touches. Nothing else is set then.
  bool unread = false;
  std::vector<closure_relation> relations;
  std::vector<closure_name> functions;
  std::vector<closure_name> operators; ///< `name` is the symbol
  std::vector<closure_name> types;
  touch_kind definitions = touch_kind::none; ///< of every DDL statement: an event trigger leads to the ledger
  touch_kind rebuilds =
      touch_kind::none; ///< of a rebuild that names no table: some table's leads to the ledger
  /// Every function that the catalogs hold beyond PostgreSQL's own, sorted: what is not in it cannot be
  /// judged.
  std::vector<std::uint32_t> known_functions;
};

} // namespace ledgergate::sql
