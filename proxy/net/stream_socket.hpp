// One stream socket (TCP or unix) on a worker's event loop, with its readiness kept in user space: the reason
// why an untouched burst costs one receive and one send and nothing else.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/net/event_loop.hpp"
#include "proxy/net/socket_address.hpp"
#include "proxy/net/unique_fd.hpp"

namespace ledgergate::net {

enum class io_status : std::uint8_t {
  ok,          ///< `bytes` were moved, at least one
  would_block, ///< nothing was moved; readiness will be announced
  end,         ///< reading: the peer sends no more (FIN); writing: never
  failed,      ///< reset or broken; `error` is the errno
};

struct io_result {
  io_status status = io_status::would_block;
  std::size_t bytes = 0;
  int error = 0;
};

enum class connect_status : std::uint8_t {
  connected,
  in_progress,   ///< on_ready() follows; ask finish_connect() then
  busy,          ///< unix: the listener's backlog is full, try again a little later
  no_descriptor, ///< out of descriptors (EMFILE, ENFILE) or memory for a socket
  failed,
};

class stream_socket final : private event_loop::watcher {
 public:
  class owner {
   public:
    /// Something changed: readable, writable, closed by the peer, or broken.
    virtual void on_ready(stream_socket&) = 0;

   protected:
    ~owner() = default;
  };

  stream_socket(event_loop& loop, owner& who) : loop_(loop), owner_(who) {}
  ~stream_socket() { close(); }
  stream_socket(const stream_socket&) = delete;
  stream_socket& operator=(const stream_socket&) = delete;

  /// Takes a connected socket (non-blocking) over: sets TCP_NODELAY and keepalive, registers it once. False:
  /// errno.
  bool adopt(unique_fd connected);
  /// Starts a connection of its own, closing an earlier attempt.
  connect_status start_connect(const socket_address& to);
  /// After in_progress and on_ready(): where the attempt stands. Never `busy` or `no_descriptor`.
  connect_status finish_connect();
  int last_error() const { return error_; }

  bool is_open() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  bool is_unix() const { return is_unix_; }

  /// Bytes (or the end) may be there. False after a short read: on Linux it means that the stream was
  /// drained, and edge-triggered epoll announces what comes later.
  bool can_read() const { return readable_; }
  bool can_write() const { return writable_; }
  /// The peer will send no more (FIN or gone); what it sent before may still be unread.
  bool peer_ended() const { return (seen_ & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0; }
  /// Closed in both directions or reset: nobody is there to read.
  bool peer_hung_up() const { return (seen_ & (EPOLLHUP | EPOLLERR)) != 0; }

  io_result read(std::span<char> into);
  io_result write(std::string_view bytes);
  /// One call for all pieces; may stop within any of them.
  io_result write(std::span<const iovec> pieces);

  /// FIN: this side sends no more.
  void shut_write();
  /// Gives the descriptor away, still open.
  unique_fd release();
  /// Closing twice is harmless. No on_ready() comes afterwards.
  void close();

 private:
  void on_events(std::uint32_t events) override;
  io_result written(std::ptrdiff_t result, std::size_t wanted);
  bool enroll(bool writable);

  event_loop& loop_;
  owner& owner_;
  unique_fd fd_;
  int error_ = 0;
  std::uint32_t seen_ = 0; ///< end and error events so far
  bool readable_ = false;
  bool writable_ = false;
  bool is_unix_ = false;
  bool write_watched_ = false;
};

} // namespace ledgergate::net
