// What a body of procedural code does to one table, as far as its own statements show: a light reading of
// tokens, for PL/pgSQL, which the parser does not read.
#pragma once

#include <optional>
#include <string_view>

namespace ledgergate::sql {

struct target_accesses {
  bool insert = false;
  bool update = false;
  bool remove = false;
  bool truncate = false;
  bool lock_for_writing = false; ///< FOR [NO KEY] UPDATE or LOCK in a statement that names it
  bool lock_for_reading = false; ///< FOR [KEY] SHARE in a statement that names it
  bool rebuild = false;          ///< VACUUM, ANALYZE, CLUSTER, REINDEX, CREATE INDEX in such a statement
  bool rewrite = false;          ///< ALTER, CREATE in such a statement

  bool changes() const { return insert || update || remove || truncate || lock_for_writing; }
};

/// `name` is the table's name without its schema, as the server stores it. Nothing when the text cannot be
/// trusted to show it all: the name stands in a string, which may be run as SQL, or a quote is never closed.
std::optional<target_accesses> accesses_in(std::string_view body, std::string_view name);

} // namespace ledgergate::sql
