// GET /v1/observe: what gate.mode observe has seen that would have been pinned.
#pragma once

#include <functional>
#include <vector>

#include "config/settings.hpp"
#include "proxy/admin/router.hpp"
#include "proxy/observe/touch_report.hpp"
#include "proxy/transition/sql_result.hpp"

namespace ledgergate::admin {

struct observation {
  config::gate_mode mode = config::gate_mode::enforce;
  transition::wall_time since; ///< what is counted began then
  observe::touch_report::snapshot seen;
};

/// `source` is asked on the admin thread, at each request.
std::vector<route> observe_routes(std::function<observation()> source);

} // namespace ledgergate::admin
