// tls: of whoever listens, and towards the server. Files are looked at by the library that reads them.
#include "config/sections.hpp"

namespace ledgergate::config {
namespace {

constexpr auto file_allowed = "the path of a PEM file";

void read_versions(const section_reader& section, tls_version& min, tls_version& max) {
  section.choice("min_version", min, tls_version_names);
  section.choice("max_version", max, tls_version_names);
  if (min <= max) return;
  section.context().error(section.path_of("max_version"),
                          "TLSv1.2 is below min_version TLSv1.3; must be the same or higher");
}

// A key that another one makes necessary.
void need(const section_reader& section, std::string_view key, bool present, std::string_view because) {
  if (present || section.context().has_error(section.path_of(key))) return;
  std::string message = "is missing; ";
  section.context().error(section.path_of(key),
                          message.append(because).append(" needs ").append(file_allowed));
}

bool has(const section_reader& parent) { return parent.find("tls") != nullptr; }

// A section without a mode would leave its author believing that something is encrypted.
void need_mode(const section_reader& section, std::string_view words) {
  section.find_required("mode", std::string{"one of "}.append(words));
}

} // namespace

void read_server_tls(const section_reader& parent, tls_use use, server_tls_settings& target) {
  if (!has(parent)) return;
  std::vector<std::string_view> keys{
      "mode", "cert", "key", "client_ca", "client_crl", "client_certificate", "min_version", "max_version"};
  if (use == tls_use::postgres) keys.push_back("channel_binding");
  const auto section = parent.section("tls", keys);
  if (use == tls_use::postgres) {
    need_mode(section, "off, allow, require");
    section.choice("mode", target.mode, server_tls_mode_names);
    section.choice("channel_binding", target.channel_binding, channel_binding_names);
  } else {
    need_mode(section, "off, require");
    section.choice("mode", target.mode, strict_tls_mode_names);
  }
  target.cert = section.text("cert", file_allowed);
  target.key = section.text("key", file_allowed);
  target.client_ca = section.text("client_ca", file_allowed, null_value::means_absent);
  target.client_crl = section.text("client_crl", file_allowed, null_value::means_absent);
  section.choice("client_certificate", target.client_certificate, client_certificate_names);
  read_versions(section, target.min_version, target.max_version);
  if (target.mode != server_tls_mode::off) {
    const std::string because = "mode: " + std::string{to_string(target.mode)};
    need(section, "cert", !target.cert.empty(), because);
    need(section, "key", !target.key.empty(), because);
  }
  if (!target.client_crl.empty()) need(section, "client_ca", !target.client_ca.empty(), "client_crl");
  if (section.find("client_certificate") != nullptr) {
    need(section, "client_ca", !target.client_ca.empty(), "client_certificate");
  }
}

void read_upstream_tls(const section_reader& parent, upstream_tls_settings& target) {
  if (!has(parent)) return;
  const auto section =
      parent.section("tls", {"mode", "ca", "crl", "cert", "key", "min_version", "max_version"});
  need_mode(section, "off, prefer, require, verify-ca, verify-full");
  section.choice("mode", target.mode, upstream_tls_mode_names);
  target.ca = section.text("ca", file_allowed, null_value::means_absent);
  target.crl = section.text("crl", file_allowed, null_value::means_absent);
  target.cert = section.text("cert", file_allowed, null_value::means_absent);
  target.key = section.text("key", file_allowed, null_value::means_absent);
  read_versions(section, target.min_version, target.max_version);
  if (target.mode == upstream_tls_mode::verify_ca || target.mode == upstream_tls_mode::verify_full) {
    need(section, "ca", !target.ca.empty(), "mode: " + std::string{to_string(target.mode)});
  }
  if (!target.crl.empty()) need(section, "ca", !target.ca.empty(), "crl");
  if (!target.cert.empty()) need(section, "key", !target.key.empty(), "cert");
  if (!target.key.empty()) need(section, "cert", !target.cert.empty(), "key");
}

} // namespace ledgergate::config
