// The words of the configuration's enumerations, for reading, for showing, and for metric and log labels.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/settings.hpp"

namespace ledgergate::config {

template <typename Enum, std::size_t Count>
using name_table = std::array<std::pair<std::string_view, Enum>, Count>;

inline constexpr name_table<gate_mode, 3> gate_mode_names{
    {{"enforce", gate_mode::enforce}, {"observe", gate_mode::observe}, {"off", gate_mode::off}}};
inline constexpr name_table<pin_on, 3> pin_on_names{
    {{"any", pin_on::any}, {"lock", pin_on::lock}, {"write", pin_on::write}}};
inline constexpr name_table<in_band_policy, 2> in_band_policy_names{
    {{"exclusive", in_band_policy::exclusive}, {"deny", in_band_policy::deny}}};
inline constexpr name_table<catalog_on_error, 2> catalog_on_error_names{
    {{"closed", catalog_on_error::closed}, {"names_only", catalog_on_error::names_only}}};
inline constexpr name_table<server_tls_mode, 3> server_tls_mode_names{
    {{"off", server_tls_mode::off},
     {"allow", server_tls_mode::allow},
     {"require", server_tls_mode::require}}};
/// Where nobody may come in clear once there is TLS.
inline constexpr name_table<server_tls_mode, 2> strict_tls_mode_names{
    {{"off", server_tls_mode::off}, {"require", server_tls_mode::require}}};
inline constexpr name_table<upstream_tls_mode, 5> upstream_tls_mode_names{
    {{"off", upstream_tls_mode::off},
     {"prefer", upstream_tls_mode::prefer},
     {"require", upstream_tls_mode::require},
     {"verify-ca", upstream_tls_mode::verify_ca},
     {"verify-full", upstream_tls_mode::verify_full}}};
inline constexpr name_table<tls_version, 2> tls_version_names{
    {{"TLSv1.2", tls_version::v1_2}, {"TLSv1.3", tls_version::v1_3}}};
inline constexpr name_table<client_certificate_policy, 2> client_certificate_names{
    {{"required", client_certificate_policy::required}, {"optional", client_certificate_policy::optional}}};
inline constexpr name_table<channel_binding_policy, 2> channel_binding_names{
    {{"same_certificate", channel_binding_policy::same_certificate},
     {"disabled", channel_binding_policy::disabled}}};
inline constexpr name_table<bool, 2> truth_names{{{"true", true}, {"false", false}}};
inline constexpr name_table<log_level, 5> log_level_names{{{"trace", log_level::trace},
                                                           {"debug", log_level::debug},
                                                           {"info", log_level::info},
                                                           {"warn", log_level::warn},
                                                           {"error", log_level::error}}};
inline constexpr name_table<log_format, 2> log_format_names{
    {{"text", log_format::text}, {"json", log_format::json}}};
inline constexpr name_table<log_statements, 3> log_statements_names{
    {{"redacted", log_statements::redacted}, {"full", log_statements::full}, {"none", log_statements::none}}};

/// The word of `value`; every value of an enumeration has one.
template <typename Enum, std::size_t Count>
constexpr std::string_view name_of(Enum value, const name_table<Enum, Count>& names) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  return {};
}

constexpr std::string_view to_string(gate_mode value) { return name_of(value, gate_mode_names); }
constexpr std::string_view to_string(pin_on value) { return name_of(value, pin_on_names); }
constexpr std::string_view to_string(in_band_policy value) { return name_of(value, in_band_policy_names); }
constexpr std::string_view to_string(catalog_on_error value) {
  return name_of(value, catalog_on_error_names);
}
constexpr std::string_view to_string(server_tls_mode value) { return name_of(value, server_tls_mode_names); }
constexpr std::string_view to_string(upstream_tls_mode value) {
  return name_of(value, upstream_tls_mode_names);
}
constexpr std::string_view to_string(tls_version value) { return name_of(value, tls_version_names); }
constexpr std::string_view to_string(client_certificate_policy value) {
  return name_of(value, client_certificate_names);
}
constexpr std::string_view to_string(channel_binding_policy value) {
  return name_of(value, channel_binding_names);
}
constexpr std::string_view to_string(log_level value) { return name_of(value, log_level_names); }
constexpr std::string_view to_string(log_format value) { return name_of(value, log_format_names); }
constexpr std::string_view to_string(log_statements value) { return name_of(value, log_statements_names); }

} // namespace ledgergate::config
