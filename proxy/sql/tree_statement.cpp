#include "proxy/sql/tree_statement.hpp"

#include <algorithm>
#include <array>

#include "proxy/sql/tree_node.hpp"

namespace ledgergate::sql {

namespace {

template <std::size_t Count>
bool contains(const std::array<std::string_view, Count>& names, std::string_view node) {
  return std::find(names.begin(), names.end(), node) != names.end();
}

bool begins_like_a_definition(std::string_view node) {
  static constexpr std::array<std::string_view, 6> prefixes = {"Alter", "Create", "Drop",
                                                               "Grant", "Define", "Comment"};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return node.starts_with(prefix); });
}

constexpr std::array<std::string_view, 9> definitions = {"CompositeTypeStmt", "ImportForeignSchemaStmt",
                                                         "IndexStmt",         "ReassignOwnedStmt",
                                                         "ReindexStmt",       "RenameStmt",
                                                         "RuleStmt",          "SecLabelStmt",
                                                         "ViewStmt"};

constexpr std::array<std::string_view, 11> other_inert = {
    "CheckPointStmt", "ClosePortalStmt", "ClusterStmt",     "ConstraintsSetStmt",
    "FetchStmt",      "ListenStmt",      "LoadStmt",        "NotifyStmt",
    "UnlistenStmt",   "VacuumStmt",      "VariableShowStmt"};

} // namespace

bool is_inert_statement(std::string_view node) {
  if (node == "CreateTableAsStmt") return false;
  return begins_like_a_definition(node) || contains(definitions, node) || contains(other_inert, node);
}

bool is_definition_statement(std::string_view node) {
  return begins_like_a_definition(node) || contains(definitions, node) || node == "RefreshMatViewStmt";
}

bool defines_a_way(std::string_view node, const json::object& wrapper) {
  if (node == "CreateTableAsStmt") {
    const json::object* body = object_of(wrapper, node);
    return body != nullptr && text_of(*body, "objtype") == "OBJECT_MATVIEW";
  }
  static constexpr std::array<std::string_view, 4> names = {"DefineStmt", "RenameStmt", "RuleStmt",
                                                            "ViewStmt"};
  return node.starts_with("Create") || node.starts_with("Alter") || contains(names, node);
}

} // namespace ledgergate::sql
