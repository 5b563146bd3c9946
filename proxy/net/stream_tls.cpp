// The TLS half of stream_socket: moves what tls_layer makes.
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "proxy/net/stream_socket.hpp"

namespace ledgergate::net {

namespace {

/// One receive. A burst of a clear connection is larger, but records must be opened while they are in the
/// cache.
constexpr std::size_t receive_bytes = 64 * 1024;
/// Plaintext that is sealed for one send.
constexpr std::size_t seal_bytes = 256 * 1024;
/// Answers that the peer can make us give without reading them (alerts that deny a renegotiation) pile up to
/// this; then it is not read until it has read them.
constexpr std::size_t answers_max_bytes = 64 * 1024;

} // namespace

bool stream_socket::accept_tls(tls_context with, std::string_view received) {
  return enter_tls(tls_layer::accepting(std::move(with)), received);
}

bool stream_socket::connect_tls(tls_context with, const tls_peer& to) {
  return enter_tls(tls_layer::connecting(std::move(with), to), {});
}

bool stream_socket::enter_tls(std::unique_ptr<tls_layer> layer, std::string_view received) {
  if (layer == nullptr) return false;
  tls_ = std::make_unique<tls_state>();
  tls_->layer = std::move(layer);
  tls_->received = received;
  loop_.tls().received.resize(receive_bytes);
  return true;
}

tls_status stream_socket::shake_hands() {
  std::string received = std::exchange(tls_->received, {});
  std::string_view input = received;
  for (;;) {
    std::string& out = loop_.tls().sealed;
    out.clear();
    const tls_status status = tls_->layer->shake_hands(input, out);
    const bool sent = pass_on(out);
    // What followed the handshake in the same burst is in the layer, and nothing will announce it.
    if (status == tls_status::ok) opened_waits_ = true;
    if (status != tls_status::want_input) return status;
    if (!sent) return tls_status::failed;
    if (!readable_) return status;
    const io_result result = receive(loop_.tls().received);
    if (result.status == io_status::would_block) return status;
    if (result.status != io_status::ok) return tls_status::failed;
    input = {loop_.tls().received.data(), result.bytes};
  }
}

const std::string& stream_socket::tls_failure() const {
  static const std::string none;
  return tls_ == nullptr ? none : tls_->layer->failure();
}

io_result stream_socket::read_opened(std::span<char> into) {
  std::string& out = loop_.tls().sealed;
  std::string_view input;
  while (opened_waits_ || readable_) {
    if (tls_->sealed.size() > answers_max_bytes) return {io_status::would_block, 0, 0};
    if (!opened_waits_) {
      const io_result raw = receive(loop_.tls().received);
      if (raw.status != io_status::ok) return raw;
      input = {loop_.tls().received.data(), raw.bytes};
    }
    out.clear();
    const tls_layer::opened result = tls_->layer->open(input, into, out);
    if (!out.empty()) pass_on(out);
    // An end behind some bytes is reported by the next read.
    opened_waits_ = result.bytes > 0 && result.status != tls_status::want_input;
    if (result.bytes > 0) return {io_status::ok, result.bytes, 0};
    if (result.status == tls_status::closed) return {io_status::end, 0, 0};
    if (result.status == tls_status::failed) return {io_status::failed, 0, EPROTO};
    input = {};
  }
  return {io_status::would_block, 0, 0};
}

io_result stream_socket::write_sealed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    if (sealed_waits_) break;
    const std::string_view part = bytes.substr(taken, seal_bytes);
    std::string& out = loop_.tls().sealed;
    out.clear();
    if (!tls_->layer->seal(part, out)) return {io_status::failed, 0, EPROTO};
    if (!pass_on(out)) return {io_status::failed, 0, error_};
    taken += part.size();
  }
  if (taken == 0) return {io_status::would_block, 0, 0};
  return {io_status::ok, taken, 0};
}

/// Pieces are joined: a record for each of them would cost more than the copy.
io_result stream_socket::write_sealed(std::span<const iovec> pieces) {
  if (sealed_waits_) return {io_status::would_block, 0, 0};
  std::string joined;
  for (const iovec& piece : pieces) {
    const std::string_view bytes(static_cast<const char*>(piece.iov_base), piece.iov_len);
    joined.append(bytes.substr(0, seal_bytes - std::min(seal_bytes, joined.size())));
  }
  return write_sealed(joined);
}

/// Sends ciphertext, or keeps what the kernel does not take. False: the connection is broken; error_ says
/// how.
bool stream_socket::pass_on(std::string_view ciphertext) {
  if (ciphertext.empty()) return true;
  if (!sealed_waits_) {
    const io_result result = send_now(ciphertext);
    if (result.status == io_status::failed) {
      error_ = result.error;
      return false;
    }
    ciphertext.remove_prefix(result.bytes);
  }
  tls_->sealed.append(ciphertext);
  sealed_waits_ = !tls_->sealed.empty();
  return true;
}

/// False: nothing of it will go any more; the next write finds out why.
bool stream_socket::send_waiting() {
  const io_result result = send_now(tls_->sealed.view());
  if (result.status == io_status::failed) {
    tls_->sealed.clear();
  } else {
    tls_->sealed.consume(result.bytes);
  }
  sealed_waits_ = !tls_->sealed.empty();
  if (!sealed_waits_ && tls_->shut_at_the_end) ::shutdown(fd_.get(), SHUT_WR);
  return result.status != io_status::failed;
}

void stream_socket::shut_write() {
  if (tls_ != nullptr) {
    std::string& out = loop_.tls().sealed;
    out.clear();
    tls_->layer->say_goodbye(out);
    pass_on(out);
    if (sealed_waits_) {
      tls_->shut_at_the_end = true;
      return;
    }
  }
  ::shutdown(fd_.get(), SHUT_WR);
}

void stream_socket::leave_tls() {
  tls_.reset();
  opened_waits_ = false;
  sealed_waits_ = false;
}

parting_socket stream_socket::release() {
  std::unique_ptr<tls_layer> layer;
  // Behind half a record a goodbye would only be noise.
  if (tls_ != nullptr && !sealed_waits_) layer = std::move(tls_->layer);
  tls_.reset();
  return parting_socket(let_go(), std::move(layer));
}

void stream_socket::close() { release().close(); }

void parting_socket::close() {
  if (!fd_) return;
  if (tls_ != nullptr) {
    // Best effort: whoever is not there any more misses nothing.
    std::string goodbye;
    tls_->say_goodbye(goodbye);
    if (!goodbye.empty()) ::send(fd_.get(), goodbye.data(), goodbye.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    tls_.reset();
  }
  fd_.reset();
}

} // namespace ledgergate::net
