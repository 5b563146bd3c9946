#include "proxy/net/socket_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace ledgergate::net {

namespace {

std::string ip_text(int family, const void* address) {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(family, address, text, sizeof text);
  return text;
}

} // namespace

socket_address::socket_address(const sockaddr* address, socklen_t size)
    : size_(std::min<socklen_t>(size, sizeof storage_)) {
  std::memcpy(&storage_, address, size_);
}

std::optional<socket_address> socket_address::from_unix_path(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return socket_address(reinterpret_cast<const sockaddr*>(&address), size);
}

std::optional<socket_address> socket_address::from_literal(const std::string& host, std::uint16_t port) {
  sockaddr_in v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    return socket_address(reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
  }
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    return socket_address(reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
  }
  return std::nullopt;
}

std::optional<socket_address> socket_address::from_place(const place& where) {
  if (where.is_unix()) return from_unix_path(unix_socket_path(where.unix_folder, where.port));
  auto address = from_literal(where.host, where.port);
  if (address) address->set_name(where.host);
  return address;
}

socket_address socket_address::local_of(int fd) {
  socket_address found;
  found.size_ = sizeof found.storage_;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&found.storage_), &found.size_) != 0) return {};
  return found;
}

socket_address socket_address::peer_of(int fd) {
  socket_address found;
  found.size_ = sizeof found.storage_;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&found.storage_), &found.size_) != 0) return {};
  return found;
}

std::string socket_address::to_text() const {
  if (family() == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage_);
    return ip_text(AF_INET, &v4.sin_addr) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (family() == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage_);
    return "[" + ip_text(AF_INET6, &v6.sin6_addr) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  if (family() == AF_UNIX) {
    const auto& local = reinterpret_cast<const sockaddr_un&>(storage_);
    if (size_ <= offsetof(sockaddr_un, sun_path) || local.sun_path[0] == '\0') return "unix";
    return std::string("unix:") + local.sun_path;
  }
  return "nowhere";
}

std::string unix_socket_path(const std::string& folder, std::uint16_t port) {
  return folder + "/.s.PGSQL." + std::to_string(port);
}

} // namespace ledgergate::net
