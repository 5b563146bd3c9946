// Opening the places where clients connect. Blocking calls: used at start only.
#pragma once

#include <string>
#include <vector>

#include "proxy/net/socket_address.hpp"
#include "proxy/net/unique_fd.hpp"

namespace ledgergate::net {

/// A bound, listening, non-blocking socket. A unix socket's file is removed when it goes.
class listening_socket {
 public:
  listening_socket(unique_fd fd, socket_address address, std::string socket_file);
  listening_socket(listening_socket&&) noexcept;
  listening_socket& operator=(listening_socket&&) = delete;
  ~listening_socket();

  int fd() const { return fd_.get(); }
  const socket_address& address() const { return address_; }

 private:
  unique_fd fd_;
  socket_address address_;
  std::string socket_file_; ///< empty for TCP
};

struct listening_result {
  std::vector<listening_socket>
      sockets;                     ///< a name may stand for several addresses (localhost: 127.0.0.1 and ::1)
  std::vector<std::string> errors; ///< each says which address and why; empty when all could be opened
};

/// Host `*` means every address. A unix socket that a live server answers on is refused; a dead one's file is
/// replaced.
listening_result open_listening_sockets(const place& where);

} // namespace ledgergate::net
