// The floor of the comparison: one thread, level-triggered epoll, one recv and one send per burst and
// direction, no framing and no care for anything. A send may block, so it is for request and response alone,
// not for bulk data.
//
// Usage: floor_relay LISTEN_PORT UPSTREAM_PORT
#include <array>
#include <cerrno>
#include <unordered_map>

#include "tests/bench/relay_sockets.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: floor_relay LISTEN_PORT UPSTREAM_PORT\n", stderr);
    return 64;
  }
  const int listener = listen_on(port_argument(argv[1]));
  const int epoll = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  watch_reading(epoll, listener);

  std::unordered_map<int, int> peer_of;
  std::array<epoll_event, 64> events{};
  std::array<char, 65536> buffer;
  for (;;) {
    const int ready = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    if (ready < 0 && errno == EINTR) continue; // a tracer attaches or leaves
    checked(ready, "epoll_wait");
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener) {
        const int client = accept_from(listener);
        const int server = connect_to(port_argument(argv[2]));
        peer_of[client] = server;
        peer_of[server] = client;
        watch_reading(epoll, client);
        watch_reading(epoll, server);
        continue;
      }
      const auto entry = peer_of.find(fd);
      if (entry == peer_of.end()) continue; // closed together with its peer earlier in this turn
      const int peer = entry->second;
      const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got > 0 && send(peer, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) == got) continue;
      peer_of.erase(fd);
      peer_of.erase(peer);
      close(fd);
      close(peer);
    }
  }
}
