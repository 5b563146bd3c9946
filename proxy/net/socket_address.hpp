// Where a socket is or goes to: an IPv4, IPv6 or unix address as a value.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace ledgergate::net {

/// A place as the configuration names it: a host (name or literal address) with a port, or the folder of a
/// unix socket.
struct place {
  std::string host;
  std::uint16_t port = 0;
  std::string unix_folder; ///< not empty: the socket is `unix_folder/.s.PGSQL.port`
  bool is_unix() const { return !unix_folder.empty(); }
};

class socket_address {
 public:
  /// No address; family() is AF_UNSPEC.
  socket_address() = default;
  socket_address(const sockaddr* address, socklen_t size);

  /// Empty when the path does not fit into sun_path (107 bytes).
  static std::optional<socket_address> from_unix_path(const std::string& path);
  /// Empty when `host` is not a literal IPv4 or IPv6 address.
  static std::optional<socket_address> from_literal(const std::string& host, std::uint16_t port);
  /// The address of a place that needs no name service; empty when it does (or when its path is too long).
  static std::optional<socket_address> from_place(const place&);

  static socket_address local_of(int fd);
  static socket_address peer_of(int fd);

  /// The host as the configuration has it, by which this address was found; empty when nobody named it.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  int family() const { return storage_.ss_family; }
  bool is_unix() const { return family() == AF_UNIX; }
  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }

  /// `127.0.0.1:5432`, `[::1]:5432`, `unix:/dir/.s.PGSQL.5432`, `unix` for an unnamed unix peer.
  std::string to_text() const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
  std::string name_;
};

/// The socket file that PostgreSQL clients look for in `folder`.
std::string unix_socket_path(const std::string& folder, std::uint16_t port);

} // namespace ledgergate::net
