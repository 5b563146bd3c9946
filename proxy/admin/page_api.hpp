// The operator's page at `/`, and the feed it lives on.
#pragma once

#include <vector>

#include "proxy/admin/live_feed.hpp"
#include "proxy/admin/router.hpp"

namespace ledgergate::admin {

/// `/` and the files beside it, which hold nothing secret and need no token; `GET /v1/events`, which needs
/// what reading needs. `feed` outlives the routes.
std::vector<route> page_routes(live_feed& feed);

} // namespace ledgergate::admin
