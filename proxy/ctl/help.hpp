// The texts of --help and --version.
#pragma once

#include <string>
#include <string_view>

#include <boost/program_options/options_description.hpp>

namespace ledgergate::ctl {

std::string version_text();
std::string help_text(const boost::program_options::options_description& globals);
std::string command_help_text(std::string_view command,
                              const boost::program_options::options_description& options,
                              const boost::program_options::options_description& globals);

} // namespace ledgergate::ctl
