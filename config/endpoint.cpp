#include "config/endpoint.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <utility>

#include "config/ranges.hpp"
#include "config/units.hpp"

namespace ledgergate::config {
namespace {

constexpr std::string_view unix_prefix = "unix:";
constexpr std::size_t host_bytes_max = 253;
constexpr std::size_t unix_path_bytes_max = sizeof(sockaddr_un::sun_path) - 1;

bool is_ipv6(std::string_view text) {
  in6_addr address{};
  return inet_pton(AF_INET6, std::string{text}.c_str(), &address) == 1;
}

bool is_host_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= host_bytes_max && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), allowed);
}

endpoint_result<endpoint> parse_unix(std::string_view path, unix_path_kind kind) {
  const std::string_view longest_file = kind == unix_path_kind::folder ? "/.s.PGSQL.65535" : "";
  const auto bytes_max = unix_path_bytes_max - longest_file.size();
  if (!path.starts_with('/') || (kind == unix_path_kind::socket && path.ends_with('/'))) {
    return endpoint_error{kind == unix_path_kind::folder
                              ? "must name a folder by its full path: unix:/folder"
                              : "must name a socket by its full path: unix:/folder/file"};
  }
  if (path.size() > bytes_max) {
    return endpoint_error{"is too long: the path of a unix socket has room for " + std::to_string(bytes_max) +
                          " bytes here"};
  }
  return endpoint{{}, 0, std::string{path}};
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

endpoint_result<endpoint> parse_host(std::string_view text, std::uint16_t port) {
  if (text.starts_with(unix_prefix)) {
    auto address = parse_unix(text.substr(unix_prefix.size()), unix_path_kind::folder);
    if (address) address->port = port;
    return address;
  }
  std::string_view bare = text;
  if (text.starts_with('[') && text.ends_with(']')) bare = text.substr(1, text.size() - 2);
  if (is_ipv6(bare) || is_host_name(text)) return endpoint{std::string{bare}, port, {}};
  return endpoint_error{
      "must be names, addresses or unix:/folder, separated by commas; the port stands in upstream.port"};
}

} // namespace

endpoint_result<endpoint> parse_endpoint(std::string_view text, unix_path_kind kind) {
  if (text.starts_with(unix_prefix)) return parse_unix(text.substr(unix_prefix.size()), kind);
  const endpoint_error form{std::string{"must be host:port, [IPv6]:port or "} +
                            (kind == unix_path_kind::folder ? "unix:/folder" : "unix:/folder/file") +
                            ", with a port from 1 to 65535"};
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return form;
  const auto port = parse_number(text.substr(colon + 1), ranges::port);
  if (!port) return form;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return form;
  } else if (!is_host_name(host)) {
    return form;
  }
  return endpoint{std::string{host}, static_cast<std::uint16_t>(*port), {}};
}

endpoint_result<std::vector<endpoint>> parse_hosts(std::string_view text, std::uint16_t port) {
  std::vector<endpoint> hosts;
  while (true) {
    const auto comma = text.find(',');
    auto host = parse_host(trimmed(text.substr(0, comma)), port);
    if (!host) return host.error();
    hosts.push_back(std::move(*host));
    if (comma == std::string_view::npos) return hosts;
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const endpoint& address) {
  if (address.is_unix()) return std::string{unix_prefix} + address.unix_path;
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::string format_hosts(const std::vector<endpoint>& hosts) {
  std::string text;
  for (const auto& host : hosts) {
    if (!text.empty()) text += ',';
    text += host.is_unix() ? std::string{unix_prefix} + host.unix_path : host.host;
  }
  return text;
}

} // namespace ledgergate::config
