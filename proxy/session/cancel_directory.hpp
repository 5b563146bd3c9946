// Which server a cancel key belongs to. A CancelRequest may arrive on any worker; the name of the server may
// meanwhile stand for other addresses, so the address that the session really has is kept. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/net/socket_address.hpp"

namespace ledgergate::session {

/// The process id in a cancel key, 0 in one that is too short (manual, BackendKeyData: Int32, then the
/// secret).
std::int32_t backend_pid_of(std::string_view key);

/// Where a cancel request goes to: where its session is, over the same kind of connection.
struct cancel_target {
  net::socket_address server;
  bool encrypted = false;
};

class cancel_directory {
 public:
  /// `key`: the body of BackendKeyData, process id and secret key of any length, exactly as a CancelRequest
  /// carries it.
  /// `client` is the client's own address, for whoever looks at the server's processes.
  void add(const std::string& key, const cancel_target& target, const std::string& client);
  void remove(const std::string& key);
  std::optional<cancel_target> find(const std::string& key) const;
  /// The client behind each of the server's processes that serve our sessions, by process id.
  std::map<std::int32_t, std::string> clients_by_backend() const;

 private:
  mutable std::mutex mutex_;
  struct entry {
    cancel_target target;
    std::string client;
  };
  std::unordered_map<std::string, entry> entries_;
};

} // namespace ledgergate::session
