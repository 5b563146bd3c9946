#include "proxy/net/listening_socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace ledgergate::net {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

void fail(listening_result& result, const std::string& where, const std::string& why) {
  result.errors.push_back("cannot listen on " + where + ": " + why);
}

unique_fd make_socket(int family) {
  return unique_fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void open_tcp(const addrinfo& candidate, listening_result& result) {
  const socket_address address(candidate.ai_addr, candidate.ai_addrlen);
  unique_fd fd = make_socket(address.family());
  if (!fd) {
    // A host without IPv6 still resolves ::1 for localhost; its IPv4 address is enough then.
    if (errno != EAFNOSUPPORT) fail(result, address.to_text(), reason(errno));
    return;
  }
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.family() == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd.get(), address.data(), address.size()) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    // The same for an IPv6 loopback address that is switched off.
    if (errno == EADDRNOTAVAIL && address.family() == AF_INET6 && !result.sockets.empty()) return;
    fail(result, address.to_text(), reason(errno));
    return;
  }
  const socket_address bound = socket_address::local_of(fd.get());
  result.sockets.emplace_back(std::move(fd), bound, std::string());
}

/// Whether somebody answers on an existing socket file.
bool is_served(const socket_address& address) {
  const unique_fd probe = make_socket(AF_UNIX);
  return ::connect(probe.get(), address.data(), address.size()) == 0 || errno == EAGAIN;
}

void open_unix(const place& where, listening_result& result) {
  const std::string path = unix_socket_path(where.unix_folder, where.port);
  const auto address = socket_address::from_unix_path(path);
  if (!address) return fail(result, path, "the path of a unix socket has at most 107 bytes");
  struct stat existing {};
  if (::lstat(path.c_str(), &existing) == 0) {
    if (!S_ISSOCK(existing.st_mode)) return fail(result, path, "a file that is no socket is in the way");
    if (is_served(*address)) return fail(result, path, "another server is listening there");
    ::unlink(path.c_str());
  }
  unique_fd fd = make_socket(AF_UNIX);
  if (!fd || ::bind(fd.get(), address->data(), address->size()) != 0) {
    return fail(result, path, reason(errno));
  }
  // Open to every local user, as PostgreSQL's own socket is; the folder's permissions and pg_hba.conf decide.
  if (::chmod(path.c_str(), 0777) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    fail(result, path, reason(errno));
    ::unlink(path.c_str());
    return;
  }
  result.sockets.emplace_back(std::move(fd), *address, path);
}

} // namespace

listening_socket::listening_socket(unique_fd fd, socket_address address, std::string socket_file)
    : fd_(std::move(fd)), address_(address), socket_file_(std::move(socket_file)) {}

listening_socket::listening_socket(listening_socket&& other) noexcept
    : fd_(std::move(other.fd_)), address_(other.address_),
      socket_file_(std::exchange(other.socket_file_, {})) {}

listening_socket::~listening_socket() {
  if (!socket_file_.empty()) ::unlink(socket_file_.c_str());
}

listening_result open_listening_sockets(const place& where) {
  listening_result result;
  if (where.is_unix()) {
    open_unix(where, result);
    return result;
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const bool any = where.host == "*";
  const int error =
      ::getaddrinfo(any ? nullptr : where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(error == 0 ? found : nullptr,
                                                             [](addrinfo* list) {
                                                               if (list != nullptr) ::freeaddrinfo(list);
                                                             });
  if (error != 0) {
    fail(result, where.host + ":" + std::to_string(where.port), ::gai_strerror(error));
    return result;
  }
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next)
    open_tcp(*each, result);
  if (result.sockets.empty() && result.errors.empty()) {
    fail(result, where.host + ":" + std::to_string(where.port), "no usable address");
  }
  return result;
}

} // namespace ledgergate::net
