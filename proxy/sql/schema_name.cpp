#include "proxy/sql/schema_name.hpp"

namespace ledgergate::sql {

namespace {

/// No user's schema has a name that begins with pg_: the server refuses to make one.
bool is_temporary(std::string_view schema) { return schema == "pg_temp" || schema.starts_with("pg_temp_"); }

} // namespace

bool may_be_same_schema(std::string_view left, std::string_view right) {
  return left.empty() || right.empty() || left == right || (is_temporary(left) && is_temporary(right));
}

} // namespace ledgergate::sql
