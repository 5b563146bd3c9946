// control.dsn: checked and taken apart by libpq itself, so that what is accepted here is what will be
// accepted when connecting. Nothing is connected to or looked up. The only part of this library that uses
// libpq, and it does so in the .cpp alone.
#pragma once

#include <string>

#include <boost/system/result.hpp>

namespace ledgergate::config {

struct dsn_facts {
  std::string database; ///< empty when the string names none
  std::string redacted; ///< the string for showing: as written, or, when it holds a secret, as key=value with
                        ///< `***` for it
};

/// libpq's reason in English, or ours for a port, which libpq reads only when it connects. Parts of the
/// string that libpq quotes are left out where they may be part of a password.
struct dsn_error {
  std::string message;
};

using dsn_result = boost::system::result<dsn_facts, dsn_error>;

/// Both forms of PostgreSQL manual, "Connection Strings": `key=value ..` and `postgresql://..`.
[[nodiscard]] dsn_result parse_dsn(const std::string& dsn);

} // namespace ledgergate::config
