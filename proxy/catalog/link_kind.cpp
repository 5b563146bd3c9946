#include "proxy/catalog/link_kind.hpp"

#include <algorithm>
#include <array>

namespace ledgergate::catalog {

namespace {

constexpr std::array<std::string_view, link_kind_count> names = {
    "view",
    "materialized_view",
    "rule",
    "partition",
    "inheritance",
    "trigger",
    "trigger_condition",
    "foreign_key",
    "foreign_table",
    "event_trigger",
    "sql_body",
    "word_body",
    "standard_body",
    "procedure",
    "aggregate",
    "default_value",
    "generated_column",
    "check",
    "index",
    "statistics",
    "policy",
    "operation",
    "operator_class",
    "domain",
    "type",
    "row_type",
    "cast",
    "rebuild",
};

} // namespace

std::string_view to_string(link_kind kind) { return names[static_cast<std::size_t>(kind)]; }

std::optional<link_kind> link_named(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<link_kind>(found - names.begin());
}

} // namespace ledgergate::catalog
