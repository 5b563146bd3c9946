#include "proxy/app/certificates.hpp"

#include <utility>

namespace ledgergate::app {

certificates_result load_certificates(const config::settings& settings, const std::string& file) {
  tls::context_set_result made = tls::make_context_set(settings);
  if (made) return std::move(*made);
  std::vector<config::load_error> errors;
  const std::vector<tls::setup_error> found = made.error();
  for (const tls::setup_error& each : found)
    errors.push_back(config::error_at_key(settings, file, each.key, each.message));
  return errors;
}

std::vector<config::load_error> reload_tls(const config::settings& settings, const std::string& file,
                                           tls::context_store& in_force) {
  certificates_result made = load_certificates(settings, file);
  if (!made) return made.error();
  in_force.replace(std::move(*made));
  return {};
}

} // namespace ledgergate::app
