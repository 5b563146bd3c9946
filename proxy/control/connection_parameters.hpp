// control.dsn taken apart, so that host names can be looked up without blocking (libpq would block in
// getaddrinfo), and put together again with what every control session needs. Manual: libpq, "Database
// Connection Control Functions".
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <boost/system/result.hpp>

namespace ledgergate::control {

/// One entry of the host list.
struct server_host {
  std::string name; ///< as written; a folder for a unix socket, or empty for libpq's default socket
  std::string port; ///< as written; empty for libpq's default
  bool needs_lookup() const;
};

struct parameters_error {
  std::string message; ///< libpq's own words
};

class connection_parameters {
 public:
  /// What the dsn leaves open is set for a session that must notice a dead peer quickly and must not land on
  /// a standby.
  static boost::system::result<connection_parameters, parameters_error>
  parse(const std::string& dsn, const std::string& application_name);

  /// In order. Empty when libpq needs no help: a `hostaddr` or a `service` is given.
  const std::vector<server_host>& hosts() const { return hosts_; }
  std::chrono::milliseconds connect_timeout() const { return connect_timeout_; }

  /// Keywords and values for PQconnectStartParams. `addresses[i]` are those found for hosts()[i]; a host that
  /// needed a lookup and has none is left out.
  std::map<std::string, std::string>
  with_addresses(const std::vector<std::vector<std::string>>& addresses) const;

 private:
  std::map<std::string, std::string> values_;
  std::vector<server_host> hosts_;
  std::chrono::milliseconds connect_timeout_{5000};
};

/// `ledgergate/VERSION@HOST`, by which the sidecars of a fleet know each other: printable ASCII, at most 63
/// bytes, as the server would cut it.
std::string application_name(const std::string& version, const std::string& host_name);

} // namespace ledgergate::control
