// Which server a cancel key belongs to. A CancelRequest may arrive on any worker; the name of the server may
// meanwhile stand for other addresses, so the address that the session really has is kept. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "proxy/net/socket_address.hpp"

namespace ledgergate::session {

class cancel_directory {
 public:
  /// `key`: the body of BackendKeyData, process id and secret key of any length, exactly as a CancelRequest
  /// carries it.
  void add(const std::string& key, const net::socket_address& server);
  void remove(const std::string& key);
  std::optional<net::socket_address> find(const std::string& key) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, net::socket_address> servers_;
};

} // namespace ledgergate::session
