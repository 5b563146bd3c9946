// TLS of one connection as a transformation of bytes: ciphertext in, plaintext out, and back. Knows no
// socket; stream_socket moves what it makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "proxy/net/byte_queue.hpp"

struct ssl_st;     ///< OpenSSL's SSL
struct ssl_ctx_st; ///< OpenSSL's SSL_CTX

namespace ledgergate::net {

using tls_context = std::shared_ptr<ssl_ctx_st>;

/// What a connecting side asks of the peer beyond what its context asks.
struct tls_peer {
  std::string host;       ///< sent as SNI unless it is a literal address (RFC 6066)
  bool must_name = false; ///< the certificate must name `host`
};

enum class tls_status : std::uint8_t {
  ok,
  want_input, ///< nothing more without more ciphertext
  closed,     ///< the peer's close_notify: it sends no more
  failed,     ///< broken for good; failure() says why
};

class tls_layer {
 public:
  struct opened {
    std::size_t bytes = 0; ///< of plaintext
    /// ok: `into` was filled and more may be there.
    tls_status status = tls_status::want_input;
  };

  /// Null when OpenSSL is out of memory.
  static std::unique_ptr<tls_layer> accepting(tls_context with);
  static std::unique_ptr<tls_layer> connecting(tls_context with, const tls_peer& to);
  ~tls_layer();
  tls_layer(const tls_layer&) = delete;
  tls_layer& operator=(const tls_layer&) = delete;

  // Everything for the peer is appended to `out`; it may be something even when the call fails (an alert).

  /// `ok` once the handshake is done. Ciphertext behind it is kept.
  tls_status shake_hands(std::string_view ciphertext, std::string& out);
  /// Takes all of `ciphertext`: what cannot be opened yet is kept.
  opened open(std::string_view ciphertext, std::span<char> into, std::string& out);
  /// False: failed.
  bool seal(std::string_view plaintext, std::string& out);
  /// close_notify, once; nothing before the handshake is done.
  void say_goodbye(std::string& out);

  /// OpenSSL's words for a handshake or a stream that failed, the verification's own where that is the
  /// reason.
  const std::string& failure() const { return failure_; }
  /// The name that was agreed on (RFC 7301), or empty.
  std::string_view alpn() const;
  /// `TLSv1.3`.
  const char* version() const;
  /// Whether the certificate that `acceptor` shows is the one that the peer of `connector` has shown.
  static bool same_certificate(const tls_layer& acceptor, const tls_layer& connector);

 private:
  struct bio;
  friend struct bio;

  explicit tls_layer(tls_context with);
  tls_status explain(int result);

  tls_context context_;
  ssl_st* ssl_ = nullptr;
  byte_queue kept_;             ///< ciphertext that was not opened yet
  std::string_view source_;     ///< ciphertext behind kept_, during a call
  std::string* sink_ = nullptr; ///< during a call
  std::string failure_;
  bool established_ = false;
  bool said_goodbye_ = false;
  bool failed_ = false;
};

} // namespace ledgergate::net
