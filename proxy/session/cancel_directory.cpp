#include "proxy/session/cancel_directory.hpp"

#include "protocol/reader.hpp"

namespace ledgergate::session {

std::int32_t backend_pid_of(std::string_view key) {
  return static_cast<std::int32_t>(protocol::reader(key).int32());
}

void cancel_directory::add(const std::string& key, const cancel_target& target, const std::string& client) {
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(key, entry{target, client});
}

void cancel_directory::remove(const std::string& key) {
  const std::lock_guard lock(mutex_);
  entries_.erase(key);
}

std::optional<cancel_target> cancel_directory::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second.target;
}

std::map<std::int32_t, std::string> cancel_directory::clients_by_backend() const {
  const std::lock_guard lock(mutex_);
  std::map<std::int32_t, std::string> clients;
  for (const auto& [key, known] : entries_)
    clients.emplace(backend_pid_of(key), known.client);
  return clients;
}

} // namespace ledgergate::session
