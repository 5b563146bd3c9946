// The calls of the admin API.
#pragma once

#include <vector>

#include "proxy/admin/admin_backend.hpp"
#include "proxy/admin/router.hpp"
#include "proxy/admin/transition_feeds.hpp"

namespace ledgergate::admin {

/// All calls, answered from `backend`; `feeds` has those who watch a transition. Both must outlive them.
std::vector<route> api_routes(admin_backend& backend, transition_feeds& feeds);

} // namespace ledgergate::admin
