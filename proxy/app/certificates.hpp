// The files of all `tls:` sections: at start, with --check-config, and at a reload.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "config/load.hpp"
#include "proxy/tls/context_set.hpp"

namespace ledgergate::app {

using certificates_result =
    boost::system::result<std::shared_ptr<const tls::context_set>, std::vector<config::load_error>>;

/// Reads and checks them; errors stand at their places in `file`, which `settings` were read from. Blocks on
/// the file system.
[[nodiscard]] certificates_result load_certificates(const config::settings& settings,
                                                    const std::string& file);

/// The same, and puts them in force for the connections that come; those that are there keep theirs. When
/// anything is wrong nothing changes. Empty: done.
[[nodiscard]] std::vector<config::load_error>
reload_tls(const config::settings& settings, const std::string& file, tls::context_store& in_force);

} // namespace ledgergate::app
