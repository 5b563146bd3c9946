// What both relays of this folder need from the kernel: a listener on loopback and a connected pair of
// sockets. A relay that cannot work ends at once with the reason; it is a measuring tool with nobody to
// serve.
#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

inline int checked(int result, const char* what) {
  if (result < 0) {
    std::perror(what);
    std::exit(1);
  }
  return result;
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline void send_small_messages_at_once(int fd) {
  const int on = 1;
  checked(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
}

inline int listen_on(std::uint16_t port) {
  const int fd = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  const int on = 1;
  checked(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "SO_REUSEADDR");
  const sockaddr_in address = loopback(port);
  checked(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
  checked(listen(fd, 1024), "listen");
  return fd;
}

inline int connect_to(std::uint16_t port) {
  const int fd = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  const sockaddr_in address = loopback(port);
  checked(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  send_small_messages_at_once(fd);
  return fd;
}

inline int accept_from(int listener) {
  const int fd = checked(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC), "accept");
  send_small_messages_at_once(fd);
  return fd;
}

inline void watch_reading(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  checked(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

inline std::uint16_t port_argument(const char* text) {
  return static_cast<std::uint16_t>(std::strtoul(text, nullptr, 10));
}
