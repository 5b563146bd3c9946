#include "proxy/sql/tree_definition.hpp"

#include <algorithm>
#include <array>

#include "proxy/sql/tree_constant.hpp"
#include "proxy/sql/tree_node.hpp"

namespace ledgergate::sql {

namespace {

void add_relation(executed_parts& parts, const json::object* relation, access_kind how,
                  std::string_view column = {}) {
  if (relation != nullptr) parts.relations.push_back({relation, how, column});
}

void add_value(executed_parts& parts, const json::object& node, std::string_view key) {
  if (const json::value* found = node.if_contains(key)) parts.expressions.push_back(found);
}

/// A new column is filled by what its constraints say. A constant default is only remembered.
bool fills_rows(const json::object& column) {
  const json::array* constraints = array_of(column, "constraints");
  if (constraints == nullptr) return false;
  return std::any_of(constraints->begin(), constraints->end(), [](const json::value& each) {
    const json::object* constraint = node_of(each, "Constraint");
    if (constraint == nullptr) return false;
    const std::string_view kind = text_of(*constraint, "contype");
    if (kind == "CONSTR_CHECK" || kind == "CONSTR_GENERATED") return true;
    const json::value* value = constraint->if_contains("raw_expr");
    return kind == "CONSTR_DEFAULT" && value != nullptr && constant_of(*value) == nullptr;
  });
}

void add_constraint(executed_parts& parts, const json::object* relation, const json::object& command) {
  const json::value* definition = command.if_contains("def");
  const json::object* constraint = definition != nullptr ? node_of(*definition, "Constraint") : nullptr;
  if (constraint == nullptr || flag_of(*constraint, "skip_validation")) return;
  const std::string_view kind = text_of(*constraint, "contype");
  parts.expressions.push_back(definition);
  const bool only_indexes = kind == "CONSTR_PRIMARY" || kind == "CONSTR_UNIQUE" || kind == "CONSTR_EXCLUSION";
  add_relation(parts, relation, only_indexes ? access_kind::rebuild : access_kind::rewrite);
}

void add_partition(executed_parts& parts, const json::object* relation, const json::object& command) {
  const json::value* definition = command.if_contains("def");
  const json::object* partition = definition != nullptr ? node_of(*definition, "PartitionCmd") : nullptr;
  if (partition == nullptr) return;
  add_relation(parts, relation, access_kind::rewrite);
  add_relation(parts, object_of(*partition, "name"), access_kind::rewrite);
  add_value(parts, *partition, "bound");
}

void add_command(executed_parts& parts, const json::object* relation, const json::object& command) {
  const std::string_view what = text_of(command, "subtype");
  const json::value* definition = command.if_contains("def");
  const json::object* column = definition != nullptr ? node_of(*definition, "ColumnDef") : nullptr;
  if (what == "AT_AddColumn" && column != nullptr) {
    parts.expressions.push_back(definition);
    if (fills_rows(*column)) add_relation(parts, relation, access_kind::rewrite);
  } else if (what == "AT_AlterColumnType" && column != nullptr) {
    parts.expressions.push_back(definition);
    add_relation(parts, relation, access_kind::rewrite);
    // USING gives every row another value.
    if (column->contains("raw_default"))
      add_relation(parts, relation, access_kind::update, text_of(command, "name"));
  } else if (what == "AT_AddConstraint") {
    add_constraint(parts, relation, command);
  } else if (what == "AT_ValidateConstraint") {
    add_relation(parts, relation, access_kind::rewrite);
  } else if (what == "AT_SetLogged" || what == "AT_SetUnLogged" || what == "AT_SetAccessMethod") {
    add_relation(parts, relation, access_kind::rebuild);
  } else if (what == "AT_AttachPartition") {
    add_partition(parts, relation, command);
  }
}

executed_parts of_alter_table(const json::object& body) {
  executed_parts parts;
  const json::array* commands = array_of(body, "cmds");
  for (std::size_t i = 0; commands != nullptr && i < commands->size(); ++i) {
    if (const json::object* command = node_of((*commands)[i], "AlterTableCmd"))
      add_command(parts, object_of(body, "relation"), *command);
  }
  return parts;
}

/// A new partition has the rows of the default partition looked through, and its bounds are computed.
executed_parts of_create_table(const json::object& body) {
  executed_parts parts;
  if (!body.contains("partbound")) return parts;
  add_value(parts, body, "partbound");
  const json::array* parents = array_of(body, "inhRelations");
  for (std::size_t i = 0; parents != nullptr && i < parents->size(); ++i)
    add_relation(parts, node_of((*parents)[i], "RangeVar"), access_kind::rewrite);
  return parts;
}

executed_parts of_create_index(const json::object& body) {
  executed_parts parts;
  add_relation(parts, object_of(body, "relation"), access_kind::rebuild);
  add_value(parts, body, "indexParams");
  add_value(parts, body, "whereClause");
  return parts;
}

/// ADD CONSTRAINT checks every value of the domain at once, VALIDATE CONSTRAINT does it later.
executed_parts of_alter_domain(const json::object& body) {
  executed_parts parts;
  const std::string_view what = text_of(body, "subtype");
  const json::value* definition = body.if_contains("def");
  const json::object* constraint = definition != nullptr ? node_of(*definition, "Constraint") : nullptr;
  if (what == "V") parts.type = array_of(body, "typeName");
  if (what == "C" && constraint != nullptr && !flag_of(*constraint, "skip_validation"))
    parts.expressions.push_back(definition);
  return parts;
}

executed_parts of_vacuum(const json::object& body) {
  executed_parts parts;
  const json::array* relations = array_of(body, "rels");
  parts.rebuilds_unnamed = relations == nullptr || relations->empty();
  for (std::size_t i = 0; relations != nullptr && i < relations->size(); ++i) {
    if (const json::object* each = node_of((*relations)[i], "VacuumRelation"))
      add_relation(parts, object_of(*each, "relation"), access_kind::rebuild);
  }
  return parts;
}

/// `names_table`: otherwise a whole schema or database is meant, or an index, whose table is not named.
executed_parts of_rebuilding(const json::object& body, bool names_table) {
  executed_parts parts;
  const json::object* relation = names_table ? object_of(body, "relation") : nullptr;
  add_relation(parts, relation, access_kind::rebuild);
  parts.rebuilds_unnamed = relation == nullptr;
  return parts;
}

bool enables_something(const json::object& body) {
  static constexpr std::array<std::string_view, 9> enabling = {
      "AT_EnableTrig",       "AT_EnableAlwaysTrig",  "AT_EnableReplicaTrig",
      "AT_EnableTrigAll",    "AT_EnableTrigUser",    "AT_EnableRule",
      "AT_EnableAlwaysRule", "AT_EnableReplicaRule", "AT_EnableRowSecurity"};
  const json::array* commands = array_of(body, "cmds");
  if (commands == nullptr) return false;
  return std::any_of(commands->begin(), commands->end(), [](const json::value& each) {
    const json::object* command = node_of(each, "AlterTableCmd");
    return command != nullptr &&
           std::find(enabling.begin(), enabling.end(), text_of(*command, "subtype")) != enabling.end();
  });
}

} // namespace

executed_parts executed_by(std::string_view node, const json::object& body) {
  if (node == "AlterTableStmt") return of_alter_table(body);
  if (node == "AlterDomainStmt") return of_alter_domain(body);
  if (node == "ClusterStmt") return of_rebuilding(body, true);
  if (node == "CreateStmt") return of_create_table(body);
  if (node == "IndexStmt") return of_create_index(body);
  if (node == "ReindexStmt") return of_rebuilding(body, text_of(body, "kind") == "REINDEX_OBJECT_TABLE");
  if (node == "VacuumStmt") return of_vacuum(body);
  return {};
}

bool defines_unseen(std::string_view node, const json::object& body) {
  if (node == "AlterTableStmt") return enables_something(body);
  if (node == "RenameStmt") return text_of(body, "renameType") == "OBJECT_SCHEMA";
  if (node == "AlterObjectSchemaStmt") return text_of(body, "objectType") == "OBJECT_EXTENSION";
  return node == "CreateExtensionStmt" || node == "AlterExtensionStmt" || node == "AlterEventTrigStmt" ||
         node == "ImportForeignSchemaStmt";
}

} // namespace ledgergate::sql
