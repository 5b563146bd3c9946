// Stands for a network: every byte that comes in goes out a fixed time later, in both directions. It never
// stops reading, so it delays without limiting the bandwidth, and a sender sees no more back pressure than
// from a long wire.
//
// Usage: delay_relay LISTEN_PORT UPSTREAM_PORT ONE_WAY_MICROSECONDS
//
// All chunks wait equally long, so one queue in order of arrival is also in order of departure. An end of
// stream waits in the same queue as an empty chunk.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <deque>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <unordered_map>
#include <utility>

#include "tests/bench/relay_sockets.hpp"

namespace {

using steady = std::chrono::steady_clock;

/// One direction of a connection: from which socket to which, and what the receiver had no room for yet.
struct direction {
  int from = -1;
  int to = -1;
  std::string backlog;
  bool source_ended = false; // nothing more will be read
  bool end_due = false;      // the end follows as soon as the backlog is gone
  bool ended = false;        // the receiver has been told
  unsigned watched = 0;      // the epoll events that `from` is registered for
};

/// Both directions; kept alive by the descriptor table and by every chunk on its way.
struct connection {
  direction up;
  direction down;

  direction& read_from(int fd) { return up.from == fd ? up : down; }
  direction& written_to(int fd) { return up.to == fd ? up : down; }
};

using connection_ptr = std::shared_ptr<connection>;

struct chunk {
  steady::time_point due;
  connection_ptr owner;
  direction* way = nullptr;
  std::string bytes; // empty: the end of the stream
};

class delay_relay {
 public:
  delay_relay(std::uint16_t port, std::uint16_t upstream_port, std::chrono::microseconds delay)
      : listener_(listen_on(port)), epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        upstream_port_(upstream_port), delay_(delay) {
    watch_reading(epoll_, listener_);
  }

  [[noreturn]] void run() {
    for (;;) {
      const int ready = wait();
      for (int i = 0; i < ready; ++i)
        handle(events_[static_cast<std::size_t>(i)]);
      deliver_due();
    }
  }

 private:
  int wait() {
    const int capacity = static_cast<int>(events_.size());
    if (on_the_way_.empty()) return checked(epoll_wait(epoll_, events_.data(), capacity, -1), "epoll_wait");
    const auto left = std::max(on_the_way_.front().due - steady::now(), steady::duration::zero());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec timeout{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    return checked(epoll_pwait2(epoll_, events_.data(), capacity, &timeout, nullptr), "epoll_pwait2");
  }

  void handle(const epoll_event& event) {
    if (event.data.fd == listener_) {
      open_connection();
      return;
    }
    const auto found = connections_.find(event.data.fd);
    if (found == connections_.end()) return; // closed earlier in this turn
    const connection_ptr owner = found->second;
    if ((event.events & ~static_cast<unsigned>(EPOLLOUT)) != 0) receive(owner, event.data.fd);
    if ((event.events & EPOLLOUT) != 0) flush(*owner, owner->written_to(event.data.fd));
  }

  void open_connection() {
    const int client = accept_from(listener_);
    const int server = connect_to(upstream_port_);
    const auto owner = std::make_shared<connection>();
    owner->up = {client, server, {}, false, false, false, 0};
    owner->down = {server, client, {}, false, false, false, 0};
    for (const int fd : {client, server}) {
      checked(fcntl(fd, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
      connections_[fd] = owner;
      update_interest(*owner, fd);
    }
  }

  void receive(const connection_ptr& owner, int fd) {
    direction& way = owner->read_from(fd);
    if (way.source_ended) return;
    const ssize_t got = recv(fd, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && errno == EAGAIN) return;
    const std::size_t count = got > 0 ? static_cast<std::size_t>(got) : 0;
    on_the_way_.push_back({steady::now() + delay_, owner, &way, std::string(buffer_.data(), count)});
    way.source_ended = count == 0;
    update_interest(*owner, fd);
  }

  void deliver_due() {
    const auto now = steady::now();
    while (!on_the_way_.empty() && on_the_way_.front().due <= now) {
      const chunk next = std::move(on_the_way_.front());
      on_the_way_.pop_front();
      next.way->end_due = next.bytes.empty();
      next.way->backlog += next.bytes;
      flush(*next.owner, *next.way);
    }
  }

  void flush(connection& owner, direction& way) {
    while (!way.backlog.empty()) {
      const ssize_t sent = send(way.to, way.backlog.data(), way.backlog.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) break;
      // A receiver that is gone gets nothing more; its own end of stream is on its way.
      way.backlog.erase(0, sent < 0 ? std::string::npos : static_cast<std::size_t>(sent));
    }
    update_interest(owner, way.to);
    if (way.end_due && !way.ended && way.backlog.empty()) finish(owner, way);
  }

  void finish(connection& owner, direction& way) {
    way.ended = true;
    shutdown(way.to, SHUT_WR);
    if (!owner.up.ended || !owner.down.ended) return;
    for (const int fd : {owner.up.from, owner.up.to}) {
      connections_.erase(fd);
      close(fd);
    }
  }

  void update_interest(connection& owner, int fd) {
    direction& incoming = owner.read_from(fd);
    const unsigned reading = incoming.source_ended ? 0U : static_cast<unsigned>(EPOLLIN);
    const unsigned writing = owner.written_to(fd).backlog.empty() ? 0U : static_cast<unsigned>(EPOLLOUT);
    epoll_event event{};
    event.events = reading | writing;
    event.data.fd = fd;
    if (event.events == incoming.watched) return;
    int operation = EPOLL_CTL_MOD;
    if (incoming.watched == 0) operation = EPOLL_CTL_ADD;
    // A socket with nothing to wait for is taken out altogether: a hang-up would be reported over and over.
    if (event.events == 0) operation = EPOLL_CTL_DEL;
    checked(epoll_ctl(epoll_, operation, fd, &event), "epoll_ctl");
    incoming.watched = event.events;
  }

  int listener_;
  int epoll_;
  std::uint16_t upstream_port_;
  std::chrono::microseconds delay_;
  std::deque<chunk> on_the_way_;
  std::unordered_map<int, connection_ptr> connections_;
  std::array<epoll_event, 64> events_{};
  std::array<char, 65536> buffer_{};
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: delay_relay LISTEN_PORT UPSTREAM_PORT ONE_WAY_MICROSECONDS\n", stderr);
    return 64;
  }
  // Without this the kernel may round every wait up by 50 microseconds.
  checked(prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL), "PR_SET_TIMERSLACK");
  const std::chrono::microseconds delay(std::atol(argv[3]));
  delay_relay(port_argument(argv[1]), port_argument(argv[2]), delay).run();
}
