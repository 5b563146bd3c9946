// One stream socket (TCP or unix, with or without TLS) on a worker's event loop, with its readiness kept in
// user space: the reason why an untouched burst costs one receive and one send and nothing else. TLS is a
// property that the socket gets after it was connected; who reads and writes it sees no difference.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/net/byte_queue.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/socket_address.hpp"
#include "proxy/net/tls_layer.hpp"
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

/// A connection that nobody reads any more, open until this goes: then closed, over TLS with a close_notify.
class parting_socket {
 public:
  parting_socket() = default;
  explicit parting_socket(unique_fd fd, std::unique_ptr<tls_layer> tls = nullptr)
      : fd_(std::move(fd)), tls_(std::move(tls)) {}
  parting_socket(parting_socket&&) noexcept = default;
  parting_socket& operator=(parting_socket&&) = delete;
  ~parting_socket() { close(); }

  explicit operator bool() const { return static_cast<bool>(fd_); }
  void close();

 private:
  unique_fd fd_;
  std::unique_ptr<tls_layer> tls_;
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
  bool can_read() const { return readable_ || opened_waits_; }
  bool can_write() const { return writable_; }
  /// The peer will send no more (FIN or gone); what it sent before may still be unread.
  bool peer_ended() const { return (seen_ & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0; }
  /// Closed in both directions or reset: nobody is there to read.
  bool peer_hung_up() const { return (seen_ & (EPOLLHUP | EPOLLERR)) != 0; }

  io_result read(std::span<char> into);
  io_result write(std::string_view bytes);
  /// One call for all pieces; may stop within any of them.
  io_result write(std::span<const iovec> pieces);

  /// Something that write() took waits for the kernel; at most one write of it. It goes by itself.
  bool write_waits() const { return sealed_waits_; }

  /// FIN, over TLS behind a close_notify: this side sends no more.
  void shut_write();
  /// Gives the connection away, still open.
  parting_socket release();
  /// Closing twice is harmless. No on_ready() comes afterwards.
  void close();

  // TLS: one of the first two, then shake_hands() until it no longer wants input, then as without.

  /// `received`: ciphertext that was read already. False: OpenSSL is out of memory.
  bool accept_tls(tls_context with, std::string_view received);
  bool connect_tls(tls_context with, const tls_peer& to);
  /// After accept_tls() or connect_tls(), and at each on_ready() while it says want_input. failed: the peer
  /// was told why; tls_failure() says it.
  tls_status shake_hands();
  /// After a failure: what still comes is read as it is, to be thrown away.
  void leave_tls();
  /// Null without TLS.
  const tls_layer* tls() const { return tls_ == nullptr ? nullptr : tls_->layer.get(); }
  /// Why a handshake, or reading and writing afterwards, failed; empty when TLS is not the reason.
  const std::string& tls_failure() const;

 private:
  struct tls_state {
    std::unique_ptr<tls_layer> layer;
    byte_queue sealed;            ///< ciphertext that the kernel has not taken yet
    std::string received;         ///< by accept_tls(), until the first shake_hands()
    bool shut_at_the_end = false; ///< FIN once `sealed` is gone
  };

  void on_events(std::uint32_t events) override;
  io_result receive(std::span<char> into);
  io_result send_now(std::string_view bytes);
  bool enter_tls(std::unique_ptr<tls_layer> layer, std::string_view received);
  io_result read_opened(std::span<char> into);
  io_result write_sealed(std::string_view bytes);
  io_result write_sealed(std::span<const iovec> pieces);
  bool pass_on(std::string_view ciphertext);
  bool send_waiting();
  io_result written(std::ptrdiff_t result, std::size_t wanted);
  bool enroll(bool writable);
  unique_fd let_go();

  event_loop& loop_;
  owner& owner_;
  unique_fd fd_;
  int error_ = 0;
  std::uint32_t seen_ = 0; ///< end and error events so far
  bool readable_ = false;
  bool writable_ = false;
  bool is_unix_ = false;
  bool write_watched_ = false;
  bool opened_waits_ = false; ///< TLS: there may be plaintext although the kernel has nothing
  bool sealed_waits_ = false; ///< TLS: tls_->sealed is not empty
  std::unique_ptr<tls_state> tls_;
};

} // namespace ledgergate::net
