#include "proxy/net/stream_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace ledgergate::net {

namespace {

constexpr std::uint32_t end_events = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

void set_option(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

/// A peer that vanished without a word is found after about 90 seconds.
void set_tcp_options(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

} // namespace

bool stream_socket::adopt(unique_fd connected) {
  close();
  fd_ = std::move(connected);
  int domain = 0;
  socklen_t size = sizeof domain;
  ::getsockopt(fd_.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size);
  is_unix_ = domain == AF_UNIX;
  if (!is_unix_) set_tcp_options(fd_.get());
  return enroll(true);
}

connect_status stream_socket::start_connect(const socket_address& to) {
  close();
  fd_.reset(::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd_) {
    error_ = errno;
    return error_ == EMFILE || error_ == ENFILE || error_ == ENOBUFS || error_ == ENOMEM
               ? connect_status::no_descriptor
               : connect_status::failed;
  }
  is_unix_ = to.is_unix();
  if (!is_unix_) set_tcp_options(fd_.get());
  const int result = ::connect(fd_.get(), to.data(), to.size());
  error_ = result == 0 ? 0 : errno;
  if (result == 0) return enroll(true) ? connect_status::connected : connect_status::failed;
  if (error_ == EINPROGRESS) return enroll(false) ? connect_status::in_progress : connect_status::failed;
  fd_.reset();
  return error_ == EAGAIN ? connect_status::busy : connect_status::failed;
}

connect_status stream_socket::finish_connect() {
  socklen_t size = sizeof error_;
  error_ = 0;
  ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error_, &size);
  if (error_ != 0) return connect_status::failed;
  return writable_ ? connect_status::connected : connect_status::in_progress;
}

bool stream_socket::enroll(bool writable) {
  // A unix socket announces "writable" each time the peer has read something, which would wake the loop for
  // nothing; a TCP socket only after a send came up short. So TCP is registered for it once, a unix socket
  // when it is needed.
  write_watched_ = !is_unix_;
  seen_ = 0;
  writable_ = writable;
  readable_ = false;
  const std::uint32_t events = EPOLLIN | EPOLLRDHUP | (write_watched_ ? EPOLLOUT : 0u);
  if (loop_.watch(fd_.get(), events, *this)) return true;
  error_ = errno;
  fd_.reset();
  return false;
}

void stream_socket::on_events(std::uint32_t events) {
  seen_ |= events & end_events;
  if ((events & (EPOLLIN | end_events)) != 0) readable_ = true;
  if ((events & EPOLLOUT) != 0) {
    writable_ = true;
    if (is_unix_ && write_watched_) {
      write_watched_ = false;
      loop_.change(fd_.get(), EPOLLIN | EPOLLRDHUP, *this);
    }
    if (sealed_waits_) send_waiting();
  }
  owner_.on_ready(*this);
}

io_result stream_socket::read(std::span<char> into) {
  if (tls_ != nullptr) return read_opened(into);
  return receive(into);
}

io_result stream_socket::receive(std::span<char> into) {
  for (;;) {
    const auto got = ::recv(fd_.get(), into.data(), into.size(), 0);
    if (got > 0) {
      const auto bytes = static_cast<std::size_t>(got);
      if (bytes < into.size() && (seen_ & end_events) == 0) readable_ = false;
      return {io_status::ok, bytes, 0};
    }
    if (got == 0) {
      readable_ = false;
      return {io_status::end, 0, 0};
    }
    if (errno == EINTR) continue;
    readable_ = false;
    if (errno == EAGAIN) return {io_status::would_block, 0, 0};
    return {io_status::failed, 0, errno};
  }
}

io_result stream_socket::write(std::string_view bytes) {
  if (tls_ != nullptr) return write_sealed(bytes);
  return send_now(bytes);
}

io_result stream_socket::send_now(std::string_view bytes) {
  std::ptrdiff_t sent = 0;
  do {
    sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return written(sent, bytes.size());
}

io_result stream_socket::write(std::span<const iovec> pieces) {
  if (tls_ != nullptr) return write_sealed(pieces);
  msghdr message{};
  message.msg_iov =
      const_cast<iovec*>(pieces.data()); // sendmsg does not change them; the struct serves recvmsg too
  message.msg_iovlen = pieces.size();
  std::size_t wanted = 0;
  for (const iovec& piece : pieces)
    wanted += piece.iov_len;
  std::ptrdiff_t sent = 0;
  do {
    sent = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return written(sent, wanted);
}

io_result stream_socket::written(std::ptrdiff_t result, std::size_t wanted) {
  if (result < 0 && errno != EAGAIN) return {io_status::failed, 0, errno};
  const std::size_t bytes = result < 0 ? 0 : static_cast<std::size_t>(result);
  if (bytes < wanted) {
    writable_ = false;
    if (!write_watched_) {
      write_watched_ = true;
      // Modifying polls anew, so room that came up since the send is announced as well.
      loop_.change(fd_.get(), EPOLLIN | EPOLLRDHUP | EPOLLOUT, *this);
    }
  }
  if (bytes == 0) return {io_status::would_block, 0, 0};
  return {io_status::ok, bytes, 0};
}

unique_fd stream_socket::let_go() {
  if (fd_) loop_.unwatch(fd_.get(), *this);
  readable_ = false;
  writable_ = false;
  opened_waits_ = false;
  sealed_waits_ = false;
  return std::move(fd_);
}

} // namespace ledgergate::net
