// What is known of the system catalogs, as GET /v1/status and GET /v1/catalog show it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/json/object.hpp>

#include "proxy/catalog/closure.hpp"

namespace ledgergate::admin {

struct catalog_state {
  bool enabled = false;         ///< gate.catalog.closure
  std::uint64_t generation = 0; ///< 0: not read yet
  std::optional<std::chrono::milliseconds> age;
  std::string last_error;
  std::shared_ptr<const catalog::catalog_report> report; ///< null before the first reading
};

/// A part of GET /v1/status.
boost::json::object render_catalog_state(const catalog_state& state);

} // namespace ledgergate::admin
