// The calls of the admin API.
#pragma once

#include <vector>

#include "proxy/admin/admin_backend.hpp"
#include "proxy/admin/router.hpp"

namespace ledgergate::admin {

/// All calls, answered from `backend`, which must outlive them.
std::vector<route> api_routes(admin_backend& backend);

} // namespace ledgergate::admin
