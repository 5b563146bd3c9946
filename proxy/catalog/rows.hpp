// The system catalogs as far as they say what leads where: one struct for each kind of row, as plain values.
// Source: PostgreSQL manual, chapter "System Catalogs". Built-in objects (OIDs below 16384) are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ledgergate::catalog {

using object_id = std::uint32_t;

// The members called `commands` say what stands in a stored query, one letter for each: 1 SELECT, 2 UPDATE,
// 3 INSERT, 4 DELETE, 5 MERGE (as the server numbers them), C for ON CONFLICT, L for row locks.

/// pg_class: tables, views, materialised views, foreign tables.
struct relation_row {
  object_id oid = 0;
  std::string schema;
  std::string name;
  char kind = 'r';           ///< relkind
  bool row_security = false; ///< policies apply
  bool is_partition = false;
  std::vector<std::string> partition_key; ///< of a partitioned table; empty with an expression in it
  std::string foreign_options;            ///< of a foreign table: what it stands for on the other side
};

/// pg_proc: functions, procedures, aggregates.
struct function_row {
  object_id oid = 0;
  std::string schema;
  std::string name;
  char kind = 'f'; ///< prokind: f, p, a, w
  std::string language;
  std::string extension; ///< the extension it belongs to, or empty
  std::string body;      ///< prosrc
  /// Of a body in standard SQL (BEGIN ATOMIC): see `commands`. What they are done to stands in the
  /// dependencies. Absent: a text body.
  std::optional<std::string> atomic_commands;
};

/// pg_trigger without those that implement foreign keys.
struct trigger_row {
  object_id oid = 0;
  object_id relation = 0;
  std::string name;
  object_id function = 0;
  int type = 0;                     ///< tgtype: 4 INSERT, 8 DELETE, 16 UPDATE, 32 TRUNCATE
  char enabled = 'O';               ///< tgenabled; D never fires
  std::vector<std::string> columns; ///< UPDATE OF these; empty: any
};

/// pg_constraint of kind f. Actions: a no action, r restrict, c cascade, n set null, d set default.
struct foreign_key_row {
  std::string name;
  object_id child = 0;  ///< the referencing table
  object_id parent = 0; ///< the referenced table
  char on_delete = 'a';
  char on_update = 'a';
  std::vector<std::string> child_columns;
  std::vector<std::string> parent_columns;
};

/// pg_inherits.
struct inheritance_row {
  object_id child = 0;
  object_id parent = 0;
};

/// pg_rewrite: views are rules on SELECT.
struct rule_row {
  object_id oid = 0;
  object_id relation = 0;
  std::string name;
  char event = '1'; ///< 1 SELECT, 2 UPDATE, 3 INSERT, 4 DELETE
  char enabled = 'O';
  std::string commands; ///< of its actions; of a view at least the row locks, where they matter
};

/// pg_attrdef: defaults and generated columns.
struct default_row {
  object_id oid = 0;
  object_id relation = 0;
  std::string column;
  char generated = ' '; ///< s stored, v virtual
};

/// pg_constraint of kind c: on a relation or on a domain.
struct check_row {
  object_id oid = 0;
  object_id relation = 0;
  object_id domain = 0;
  std::string name;
};

/// pg_policy.
struct policy_row {
  object_id oid = 0;
  object_id relation = 0;
  std::string name;
  char command = '*';         ///< r, a (insert), w (update), d, *
  std::string commands = "1"; ///< of the queries in its conditions
};

/// An index with an expression or a condition.
struct index_row {
  object_id oid = 0;
  object_id relation = 0;
  std::string name;
};

/// pg_statistic_ext with an expression: ANALYZE evaluates it.
struct statistics_row {
  object_id oid = 0;
  object_id relation = 0;
  std::string name;
};

/// pg_operator.
struct operator_row {
  object_id oid = 0;
  std::string schema;
  std::string name;
  object_id left = 0;
  object_id right = 0;
};

/// pg_type, the row types of tables and the types of arrays included, pseudo-types not.
struct type_row {
  object_id oid = 0;
  std::string schema;
  std::string name;
  char kind = 'b';        ///< typtype: b base, c composite, d domain, e enumeration, r range, m multirange
  object_id relation = 0; ///< typrelid: a composite type's columns are this relation's
};

/// pg_cast.
struct cast_row {
  object_id oid = 0;
  object_id source = 0;
  object_id target = 0;
};

/// pg_amproc and pg_amop: support functions and operators of an operator class for a type.
struct class_member_row {
  object_id oid = 0;
  object_id type = 0;
};

/// pg_event_trigger.
struct event_trigger_row {
  std::string name;
  std::string event; ///< ddl_command_start, .., login
  object_id function = 0;
  char enabled = 'O';
};

/// What an object depends on, or what is depended on.
enum class object_class : std::uint8_t {
  relation, ///< also an index
  function,
  rule,
  default_value,
  constraint,
  policy,
  trigger,
  operation,
  type,
  cast,
  class_member,
  statistics,
};

/// pg_depend: `object` cannot be without `referenced`.
struct dependency_row {
  object_class of = object_class::relation;
  object_id object = 0;
  object_class on = object_class::relation; ///< relation, function, operation or type
  object_id referenced = 0;
  std::vector<int> columns; ///< of a referenced relation: the columns that are named; 0 is the whole row
};

/// A column of a table whose rule names columns, and the column of a view that shows it.
struct narrowed_column_row {
  object_id table = 0;
  int number = 0;
  std::string name;
};
struct view_column_row {
  object_id view = 0;
  std::string name;
  object_id origin = 0;
  std::string origin_column;
};

/// One consistent reading of a database.
struct catalog_rows {
  std::vector<relation_row> relations;
  std::vector<function_row> functions;
  std::vector<trigger_row> triggers;
  std::vector<foreign_key_row> foreign_keys;
  std::vector<inheritance_row> inheritance;
  std::vector<rule_row> rules;
  std::vector<default_row> defaults;
  std::vector<check_row> checks;
  std::vector<policy_row> policies;
  std::vector<index_row> indexes;
  std::vector<statistics_row> statistics;
  std::vector<operator_row> operators;
  std::vector<type_row> types;
  std::vector<cast_row> casts;
  std::vector<class_member_row> class_members;
  std::vector<event_trigger_row> event_triggers;
  std::vector<dependency_row> dependencies;
  std::vector<narrowed_column_row> narrowed_columns;
  std::vector<view_column_row> view_columns;
};

} // namespace ledgergate::catalog
