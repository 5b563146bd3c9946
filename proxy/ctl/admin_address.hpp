// Where the admin port is, as the operator writes it.
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace ledgergate::ctl {

/// TCP (`host`, `port`) or a unix socket (`unix_path`).
struct admin_address {
  std::string host; ///< name or address, IPv6 without brackets
  std::string port;
  std::string unix_path;
  bool tls = false; ///< https
  bool is_unix() const { return !unix_path.empty(); }
  bool operator==(const admin_address&) const = default;
};

/// What is wrong and what is allowed instead.
struct admin_address_error {
  std::string message;
};

inline constexpr std::string_view default_admin_url = "http://127.0.0.1:6433";

/// Reads `http://host[:port]`, `https://host[:port]`, `http://[v6]:port` or `unix:/path`. Without a port it
/// is 6433.
[[nodiscard]] std::variant<admin_address, admin_address_error> parse_admin_address(std::string_view text);

/// The form parse_admin_address() reads.
[[nodiscard]] std::string to_string(const admin_address& address);

} // namespace ledgergate::ctl
