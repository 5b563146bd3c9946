// Addresses as an operator writes them. Names are not looked up here; that needs the network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "config/settings.hpp"

namespace ledgergate::config {

/// What is allowed instead.
struct endpoint_error {
  std::string message;
};

template <typename T>
using endpoint_result = boost::system::result<T, endpoint_error>;

/// What the path of a `unix:` address names. PostgreSQL clients and servers share a folder, in which the
/// socket is called
/// `.s.PGSQL.PORT` (PostgreSQL manual, unix_socket_directories); the admin port's path is the socket itself.
enum class unix_path_kind { folder, socket };

/// `host:port`, `[IPv6]:port` or `unix:/path`. The port of a unix folder is left 0 for the caller.
[[nodiscard]] endpoint_result<endpoint> parse_endpoint(std::string_view text, unix_path_kind kind);

/// `upstream.host`: names, addresses or `unix:/folder`, separated by commas, none with a port; every one gets
/// `port`.
[[nodiscard]] endpoint_result<std::vector<endpoint>> parse_hosts(std::string_view text, std::uint16_t port);

/// The form parse_endpoint() reads: `127.0.0.1:6432`, `[::1]:6432`, `unix:/run/ledgergate`.
[[nodiscard]] std::string to_string(const endpoint& address);

/// The form parse_hosts() reads.
[[nodiscard]] std::string format_hosts(const std::vector<endpoint>& hosts);

} // namespace ledgergate::config
