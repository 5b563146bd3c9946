// What one statement does, as far as the gate asks: a value, filled by the parser, judged by the touch rules.
// Names are as the server sees them: folded, unquoted, Unicode escapes decoded, cut at 63 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/sql/classifier.hpp"

namespace ledgergate::sql {

/// What is done to a relation.
enum class access_kind : std::uint8_t {
  read,
  lock_for_key_share,
  lock_for_share,
  lock_for_no_key_update,
  lock_for_update,
  lock_table_for_reading, ///< LOCK TABLE in ACCESS SHARE, ROW SHARE or SHARE mode: keeps writers out, writes
                          ///< nothing
  lock_table_for_writing, ///< LOCK TABLE in any other mode
  insert,
  update,
  remove, ///< DELETE
  truncate,
  rebuild, ///< indexes are built or statistics are gathered anew: VACUUM, ANALYZE, CLUSTER, REINDEX, CREATE
           ///< INDEX
  rewrite, ///< ALTER TABLE that fills, converts or checks the rows that are there
};

struct relation_access {
  std::string schema; ///< empty when not written
  std::string name;
  access_kind how = access_kind::read;
  std::vector<std::string> columns; ///< assigned columns, for insert and update
  bool all_columns = false;         ///< insert without a column list
};

/// A function (or procedure) call.
struct function_call {
  std::string schema; ///< empty when not written
  std::string name;
  std::size_t argument_count = 0;
  std::optional<std::int64_t> first_integer; ///< the first argument, when it is an integer constant
  std::vector<std::string> text_arguments;   ///< the arguments that are string constants
  bool has_computed_text = false;            ///< some argument is no constant
};

/// An operator (its symbol) or a type, as written.
struct object_name {
  std::string schema; ///< empty when not written
  std::string name;
};

enum class statement_kind : std::uint8_t {
  plain_dml, ///< SELECT (without INTO), INSERT, UPDATE, DELETE, MERGE, VALUES, TABLE
  control,   ///< transaction control or SET TRANSACTION
  do_block,
  call,
  prepare,
  other,
};

struct statement_facts {
  std::size_t offset = 0; ///< in the text; the white space and comments in front of the statement are its own
  std::size_t size = 0;   ///< 0: to the end of the text
  statement_kind kind = statement_kind::other;
  control_kind control = control_kind::none;
  std::vector<relation_access> relations;
  std::vector<function_call> functions;
  std::vector<object_name> operators;
  std::vector<object_name> types;
  bool is_definition = false; ///< DDL: an event trigger may fire
  bool is_inert = false;      ///< a setting, a notification, a cursor's FETCH, ..: runs nothing of a user's
  bool rebuilds_unnamed = false; ///< of tables that are not named: VACUUM, REINDEX INDEX, ..
  bool uses_parameters = false;
  bool discards_all = false;    ///< DISCARD ALL
  bool deallocates_all = false; ///< DEALLOCATE ALL
  bool defines = false; ///< CREATE or ALTER of something that can lead to a table: what it names may be
                        ///< reached under another name behind it
  bool defines_unseen = false;   ///< the same without naming anything that leads there
  bool defines_by_query = false; ///< a table from a query: its columns are of the types that the query gives
  std::string prepares;    ///< PREPARE name AS ..: the rest of the facts is what the named statement does
  std::string executes;    ///< EXECUTE name, also inside EXPLAIN ANALYZE and CREATE TABLE AS
  std::string deallocates; ///< DEALLOCATE name
  std::string do_body;     ///< the text of a DO block
};

} // namespace ledgergate::sql
