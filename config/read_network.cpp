// listen, upstream, admin: every address and its limits.
#include "config/endpoint.hpp"
#include "config/ranges.hpp"
#include "config/sections.hpp"

namespace ledgergate::config {
namespace {

constexpr std::uint16_t postgres_port = 5432;

void read_listen_item(const section_reader& item, std::vector<listen_settings>& target) {
  constexpr auto allowed = "an address: host:port, [IPv6]:port or unix:/folder";
  if (item.find_required("address", allowed) == nullptr) return;
  const std::string written = item.text("address", allowed);
  if (written.empty()) return;
  auto address = parse_endpoint(written, unix_path_kind::folder);
  if (!address) {
    item.context().error(item.path_of("address"), refusal(written, address.error().message));
    return;
  }
  if (address->is_unix()) {
    address->port = postgres_port;
    item.number("port", address->port, ranges::port);
  } else if (item.find("port") != nullptr) {
    item.context().error(
        item.path_of("port"),
        "is only for a unix:/folder address (from 1 to 65535); a TCP address has its port in itself");
  }
  listen_settings made{std::move(*address), {}};
  read_server_tls(item, tls_use::postgres, made.tls);
  if (made.address.is_unix() && made.tls.mode != server_tls_mode::off) {
    item.context().error(item.path_of("tls") + ".mode",
                         "must be off on a unix socket: PostgreSQL clients do not ask for TLS there");
  }
  target.push_back(std::move(made));
}

} // namespace

void read_listen(const section_reader& root, std::vector<listen_settings>& target) {
  constexpr auto allowed = "mappings with the key address, at least one";
  if (root.find_required("listen", std::string{"a list of "} + allowed) == nullptr) return;
  const auto items = root.items("listen", allowed);
  for (std::size_t index = 0; index < items.size(); ++index) {
    read_listen_item({root.context(), *items[index], item_path("listen", index), {"address", "port", "tls"}},
                     target);
  }
  if (items.empty() && !root.context().has_error("listen")) {
    root.context().error("listen", "is empty; must have at least one item with an address");
  }
}

void read_upstream(const section_reader& root, upstream_settings& target) {
  const auto section = root.section("upstream", {"host", "port", "tls", "connect_timeout"});
  read_upstream_tls(section, target.tls);
  std::uint16_t port = postgres_port;
  section.number("port", port, ranges::port);
  section.duration("connect_timeout", target.connect_timeout, ranges::connect_timeout);
  constexpr auto allowed = "a name, an address or unix:/folder, or several separated by commas";
  if (section.find_required("host", allowed) == nullptr) return;
  const std::string written = section.text("host", allowed);
  if (written.empty()) return;
  auto hosts = parse_hosts(written, port);
  if (hosts) target.hosts = std::move(*hosts);
  if (!hosts) section.context().error(section.path_of("host"), refusal(written, hosts.error().message));
}

void read_admin(const section_reader& root, admin_settings& target) {
  const auto section = root.section("admin", {"address", "tls", "token_file", "viewer_token_file"});
  const std::string written =
      section.text("address", "an address: host:port, [IPv6]:port or unix:/folder/file");
  if (!written.empty()) {
    auto address = parse_endpoint(written, unix_path_kind::socket);
    if (address) target.address = std::move(*address);
    if (!address)
      section.context().error(section.path_of("address"), refusal(written, address.error().message));
  }
  read_server_tls(section, tls_use::http, target.tls);
  if (target.address.is_unix() && target.tls.mode != server_tls_mode::off) {
    section.context().error(section.path_of("tls") + ".mode",
                            "must be off on a unix socket, which only its owner can reach");
  }
  const std::string token_file = section.text("token_file", "the path of a file", null_value::means_absent);
  if (!token_file.empty()) target.token_file = token_file;
  const std::string viewer_file =
      section.text("viewer_token_file", "the path of a file", null_value::means_absent);
  if (!viewer_file.empty()) target.viewer_token_file = viewer_file;
}

} // namespace ledgergate::config
