// What a body of procedural code does to one table, as far as its own statements show: a light reading of
// tokens, for PL/pgSQL, which the parser does not read.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/sql/lexer.hpp"

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

/// Reads a body once, to be asked about any number of tables.
class target_reader {
 public:
  /// `body` must outlive it.
  explicit target_reader(std::string_view body);

  /// `name` is the table's name without its schema, as the server stores it. Nothing when the text cannot be
  /// trusted to show it all: the name stands in a string, which may be run as SQL, or a quote is never
  /// closed.
  std::optional<target_accesses> accesses_to(std::string_view name) const;

 private:
  std::vector<std::vector<token>> statements_;
  std::vector<token> strings_;
  bool is_trusted_ = true;
};

/// The same for a single table.
std::optional<target_accesses> accesses_in(std::string_view body, std::string_view name);

} // namespace ledgergate::sql
