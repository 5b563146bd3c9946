#include "proxy/session/cancel_directory.hpp"

namespace ledgergate::session {

void cancel_directory::add(const std::string& key, const net::socket_address& server) {
  const std::lock_guard lock(mutex_);
  servers_.insert_or_assign(key, server);
}

void cancel_directory::remove(const std::string& key) {
  const std::lock_guard lock(mutex_);
  servers_.erase(key);
}

std::optional<net::socket_address> cancel_directory::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = servers_.find(key);
  if (found == servers_.end()) return std::nullopt;
  return found->second;
}

} // namespace ledgergate::session
