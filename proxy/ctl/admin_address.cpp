#include "proxy/ctl/admin_address.hpp"

#include <charconv>
#include <cstdint>

namespace ledgergate::ctl {
namespace {

constexpr std::string_view default_port = "6433";
constexpr std::string_view forms = "expected http://HOST:PORT, https://HOST:PORT or unix:/PATH";

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), port);
  return ec == std::errc() && end == text.data() + text.size() && port != 0;
}

admin_address_error wrong(std::string_view text, std::string_view why) {
  return {"'" + std::string(text) + "' is not an admin address: " + std::string(why) + "; " +
          std::string(forms)};
}

} // namespace

std::variant<admin_address, admin_address_error> parse_admin_address(std::string_view text) {
  constexpr std::string_view unix_scheme = "unix:";
  constexpr std::string_view http_scheme = "http://";
  constexpr std::string_view https_scheme = "https://";
  if (text.starts_with(unix_scheme)) {
    const std::string_view path = text.substr(unix_scheme.size());
    if (path.empty()) return wrong(text, "the path is missing");
    return admin_address{{}, {}, std::string(path), false};
  }
  const bool tls = text.starts_with(https_scheme);
  if (!tls && !text.starts_with(http_scheme)) return wrong(text, "it has no scheme");

  std::string_view authority = text.substr(tls ? https_scheme.size() : http_scheme.size());
  if (authority.ends_with('/')) authority.remove_suffix(1);
  if (authority.find_first_of("/?#@ ") != std::string_view::npos) {
    return wrong(text, "only a host and a port may follow the scheme");
  }
  std::string_view host = authority;
  std::string_view port = default_port;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return wrong(text, "the ']' is missing");
    host = authority.substr(1, bracket - 1);
    const std::string_view rest = authority.substr(bracket + 1);
    if (!rest.empty() && rest.front() != ':') return wrong(text, "only ':PORT' may follow ']'");
    if (!rest.empty()) port = rest.substr(1);
  } else if (const std::size_t colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
  }
  if (host.empty()) return wrong(text, "the host is missing");
  if (!is_port(port)) return wrong(text, "the port must be a number from 1 to 65535");
  return admin_address{std::string(host), std::string(port), {}, tls};
}

std::string to_string(const admin_address& address) {
  if (address.is_unix()) return "unix:" + address.unix_path;
  const bool v6 = address.host.find(':') != std::string::npos;
  return (address.tls ? "https://" : "http://") + (v6 ? '[' + address.host + ']' : address.host) + ':' +
         address.port;
}

} // namespace ledgergate::ctl
