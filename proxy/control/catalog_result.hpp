// The answer to catalog_text() as rows.
#pragma once

#include <optional>
#include <string>

#include "proxy/catalog/rows.hpp"
#include "proxy/transition/sql_result.hpp"

namespace ledgergate::control {

struct catalog_reading {
  std::string fingerprint;
  catalog::catalog_rows rows;
};

/// Nothing when the answer has another shape than was asked for.
std::optional<catalog_reading> read_catalog(const transition::sql_result& result);
/// The answer to fingerprint_text().
std::optional<std::string> read_fingerprint(const transition::sql_result& result);

} // namespace ledgergate::control
