// `status` and `pins`: one resource, shown once or until Ctrl-C.
#pragma once

#include <string_view>

#include "proxy/ctl/admin_client.hpp"
#include "proxy/ctl/command_line.hpp"
#include "proxy/ctl/console.hpp"
#include "proxy/ctl/exit_code.hpp"

namespace ledgergate::ctl {

/// What can be shown: where it is asked for, and what it looks like.
struct resource {
  std::string_view path;
  page (*render)(const boost::json::value&);
  overflow wide;
};

/// Shows it, or passes it on as it comes with `-o json` (one line each time).
exit_code show(console& terminal, const admin_client& client, const resource& wanted, repetition repeat,
               output_format format);

} // namespace ledgergate::ctl
