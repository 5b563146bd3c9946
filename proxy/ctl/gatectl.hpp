// The whole of gatectl but for its process: arguments and a console in, an exit code out.
#pragma once

#include <string>
#include <vector>

#include "proxy/ctl/command_line.hpp"
#include "proxy/ctl/console.hpp"
#include "proxy/ctl/exit_code.hpp"

namespace ledgergate::ctl {

/// `arguments` without the program's name.
exit_code run_gatectl(const std::vector<std::string>& arguments, const environment& variables,
                      console& terminal);

} // namespace ledgergate::ctl
