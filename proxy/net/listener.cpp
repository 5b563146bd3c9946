#include "proxy/net/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

namespace ledgergate::net {

namespace {

constexpr std::chrono::milliseconds exhaustion_pause{20};
/// Pauses in a row (one second) before clients are turned away rather than kept waiting in the backlog.
constexpr unsigned patient_pauses = 50;
/// Connections taken at once, before the main thread looks after its other work.
constexpr int accepts_per_turn = 64;

unique_fd reserve_descriptor() { return unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

bool is_exhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

} // namespace

struct listener::state : std::enable_shared_from_this<state> {
  state(boost::asio::io_context& context, listening_socket given, accepted accept_one, accepted refuse_one)
      : socket(std::move(given)), descriptor(context, socket->fd()), pause(context),
        accept(std::move(accept_one)), turn_away(std::move(refuse_one)), reserve(reserve_descriptor()) {}
  ~state() { stop(); }

  std::optional<listening_socket> socket;
  boost::asio::posix::stream_descriptor descriptor;
  boost::asio::steady_timer pause;
  accepted accept;
  accepted turn_away;
  unique_fd reserve;
  unsigned pauses = 0;

  void await_client() {
    auto on_readable = [self = shared_from_this()](const boost::system::error_code& ec) {
      if (!ec && self->socket) self->accept_clients();
    };
    descriptor.async_wait(boost::asio::posix::descriptor_base::wait_read, std::move(on_readable));
  }

  void accept_clients() {
    for (int i = 0; i < accepts_per_turn; ++i) {
      unique_fd client(::accept4(socket->fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (client) {
        pauses = 0;
        accept(std::move(client));
        if (!socket) return;
        continue;
      }
      if (is_exhaustion(errno)) return wait_for_descriptors();
      // ECONNABORTED and the network errors accept() passes on concern one client only.
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    }
    await_client();
  }

  void wait_for_descriptors() {
    if (++pauses > patient_pauses) turn_one_away();
    pause.expires_after(exhaustion_pause);
    auto on_expiry = [self = shared_from_this()](const boost::system::error_code& ec) {
      if (!ec && self->socket) self->accept_clients();
    };
    pause.async_wait(std::move(on_expiry));
  }

  void turn_one_away() {
    reserve.reset();
    unique_fd client(::accept4(socket->fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (client) turn_away(std::move(client));
    client.reset();
    reserve = reserve_descriptor();
  }

  void stop() {
    if (!socket) return;
    pause.cancel();
    descriptor.release();
    socket.reset();
  }
};

listener::listener(boost::asio::io_context& context, listening_socket socket, accepted accept,
                   accepted turn_away)
    : address_(socket.address()) {
  state_ = std::make_shared<state>(context, std::move(socket), std::move(accept), std::move(turn_away));
}

listener::~listener() { stop(); }

void listener::start() { state_->await_client(); }

void listener::stop() { state_->stop(); }

} // namespace ledgergate::net
