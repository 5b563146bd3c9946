// What the data plane writes to the log, each kind of line with its own throttle, so that a flood of one does
// not hide another.
#pragma once

#include <string>

#include "proxy/observe/log.hpp"

namespace ledgergate::session {

class session_log {
 public:
  void upstream_failed(const std::string& why);
  void too_many_clients(const std::string& client);
  void startup_refused(const std::string& client, const std::string& why);
  void binding_refused(const std::string& line);
  void startup_timeout(const std::string& client);
  void protocol_violation(const std::string& line);
  void client_abandoned(const std::string& line);
  void statement_refused(const std::string& line);
  void upgraded(const std::string& line);

 private:
  observe::log_throttle upstream_;
  observe::log_throttle clients_;
  observe::log_throttle startup_;
  observe::log_throttle timeouts_;
  observe::log_throttle violations_;
  observe::log_throttle abandoned_;
  observe::log_throttle refused_;
  observe::log_throttle upgrades_;
  observe::log_throttle bindings_;
};

} // namespace ledgergate::session
