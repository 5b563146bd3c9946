#include "proxy/session/session_log.hpp"

namespace ledgergate::session {

using config::log_level;

void session_log::upstream_failed(const std::string& why) {
  upstream_.log(log_level::warn, "could not connect to the upstream server: " + why);
}

void session_log::too_many_clients(const std::string& client) {
  clients_.log(log_level::warn, "client " + client + " turned away: too many clients");
}

void session_log::binding_refused(const std::string& line) { bindings_.log(log_level::warn, line); }

void session_log::startup_refused(const std::string& client, const std::string& why) {
  startup_.log(log_level::info, "client " + client + " refused: " + why);
}

void session_log::startup_timeout(const std::string& client) {
  timeouts_.log(log_level::info, "client " + client + " sent no whole start-up packet in time");
}

void session_log::protocol_violation(const std::string& line) { violations_.log(log_level::warn, line); }

void session_log::client_abandoned(const std::string& line) { abandoned_.log(log_level::info, line); }

void session_log::statement_refused(const std::string& line) { refused_.log(log_level::info, line); }

void session_log::upgraded(const std::string& line) { upgrades_.log(log_level::warn, line); }

} // namespace ledgergate::session
