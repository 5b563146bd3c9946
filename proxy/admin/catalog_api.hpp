// The calls of the admin API about what is gated: GET /v1/catalog and POST /v1/explain.
#pragma once

#include <string>
#include <vector>

#include "proxy/admin/catalog_state.hpp"
#include "proxy/admin/router.hpp"
#include "proxy/gate/explanation.hpp"

namespace ledgergate::admin {

/// What the calls ask. Everything is called on the admin thread.
class catalog_backend {
 public:
  virtual ~catalog_backend() = default;
  virtual catalog_state catalog() const = 0;
  /// By the rules that are in force.
  virtual gate::explanation explain(const std::string& sql) const = 0;
};

/// `backend` must outlive them.
std::vector<route> catalog_routes(catalog_backend& backend);

} // namespace ledgergate::admin
