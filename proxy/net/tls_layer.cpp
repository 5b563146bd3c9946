#include "proxy/net/tls_layer.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ledgergate::net {

namespace {

bool is_literal(const std::string& host) {
  unsigned char address[16];
  return ::inet_pton(AF_INET, host.c_str(), address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address) == 1;
}

} // namespace

/// OpenSSL's side of the layer: it reads and writes memory that the layer points it to.
struct tls_layer::bio {
  static tls_layer& layer_of(BIO* which) { return *static_cast<tls_layer*>(BIO_get_data(which)); }

  static int read(BIO* which, char* into, int wanted) {
    BIO_clear_retry_flags(which);
    tls_layer& layer = layer_of(which);
    const std::string_view from = layer.kept_.empty() ? layer.source_ : layer.kept_.view();
    const std::size_t count = std::min(from.size(), static_cast<std::size_t>(wanted));
    if (count == 0) {
      BIO_set_retry_read(which);
      return -1;
    }
    std::memcpy(into, from.data(), count);
    if (layer.kept_.empty()) {
      layer.source_.remove_prefix(count);
    } else {
      layer.kept_.consume(count);
    }
    return static_cast<int>(count);
  }

  static int write(BIO* which, const char* from, int count) {
    BIO_clear_retry_flags(which);
    tls_layer& layer = layer_of(which);
    layer.sink_->append(from, static_cast<std::size_t>(count));
    return count;
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static BIO_METHOD* make_method() {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "ledgergate");
    BIO_meth_set_read(made, read);
    BIO_meth_set_write(made, write);
    BIO_meth_set_ctrl(made, control);
    return made;
  }

  static BIO* make(tls_layer& layer) {
    static BIO_METHOD* const method = make_method();
    BIO* made = BIO_new(method);
    if (made == nullptr) return nullptr;
    BIO_set_data(made, &layer);
    BIO_set_init(made, 1);
    return made;
  }
};

tls_layer::tls_layer(tls_context with) : context_(std::move(with)), ssl_(SSL_new(context_.get())) {
  if (ssl_ == nullptr) return;
  BIO* both = bio::make(*this);
  if (both == nullptr) {
    SSL_free(std::exchange(ssl_, nullptr));
    return;
  }
  SSL_set_bio(ssl_, both, both);
}

tls_layer::~tls_layer() { SSL_free(ssl_); }

std::unique_ptr<tls_layer> tls_layer::accepting(tls_context with) {
  std::unique_ptr<tls_layer> made(new tls_layer(std::move(with)));
  if (made->ssl_ == nullptr) return nullptr;
  SSL_set_accept_state(made->ssl_);
  return made;
}

std::unique_ptr<tls_layer> tls_layer::connecting(tls_context with, const tls_peer& to) {
  std::unique_ptr<tls_layer> made(new tls_layer(std::move(with)));
  if (made->ssl_ == nullptr) return nullptr;
  SSL_set_connect_state(made->ssl_);
  const bool literal = is_literal(to.host);
  if (!literal && !to.host.empty()) SSL_set_tlsext_host_name(made->ssl_, to.host.c_str());
  if (to.must_name) {
    X509_VERIFY_PARAM* checks = SSL_get0_param(made->ssl_);
    // Like libpq: `*` stands for one whole label.
    X509_VERIFY_PARAM_set_hostflags(checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    const int set = literal ? X509_VERIFY_PARAM_set1_ip_asc(checks, to.host.c_str())
                            : X509_VERIFY_PARAM_set1_host(checks, to.host.c_str(), to.host.size());
    if (set != 1 || to.host.empty()) return nullptr;
  }
  return made;
}

tls_status tls_layer::shake_hands(std::string_view ciphertext, std::string& out) {
  if (failed_) return tls_status::failed;
  source_ = ciphertext;
  sink_ = &out;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  tls_status status = tls_status::ok;
  if (result == 1) {
    established_ = true;
  } else {
    status = explain(result);
    // The end of the stream within a handshake is no polite one.
    if (status == tls_status::closed) status = tls_status::failed;
  }
  kept_.append(source_);
  source_ = {};
  return status;
}

tls_layer::opened tls_layer::open(std::string_view ciphertext, std::span<char> into, std::string& out) {
  opened done;
  if (failed_) {
    done.status = tls_status::failed;
    return done;
  }
  source_ = ciphertext;
  sink_ = &out;
  done.status = tls_status::ok;
  while (done.bytes < into.size()) {
    ERR_clear_error();
    std::size_t got = 0;
    const int result = SSL_read_ex(ssl_, into.data() + done.bytes, into.size() - done.bytes, &got);
    if (result != 1) {
      done.status = explain(result);
      break;
    }
    done.bytes += got;
  }
  kept_.append(source_);
  source_ = {};
  return done;
}

bool tls_layer::seal(std::string_view plaintext, std::string& out) {
  sink_ = &out;
  // The sink takes everything, so one call writes all of it, in as many records as it needs.
  ERR_clear_error();
  std::size_t written = 0;
  if (!failed_ && SSL_write_ex(ssl_, plaintext.data(), plaintext.size(), &written) == 1) return true;
  explain(0);
  failed_ = true;
  return false;
}

void tls_layer::say_goodbye(std::string& out) {
  if (!established_ || failed_ || std::exchange(said_goodbye_, true)) return;
  sink_ = &out;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

/// `result` of the call that did not succeed.
tls_status tls_layer::explain(int result) {
  const int error = SSL_get_error(ssl_, result);
  if (error == SSL_ERROR_WANT_READ) return tls_status::want_input;
  if (error == SSL_ERROR_ZERO_RETURN) return tls_status::closed;
  failed_ = true;
  const long verified = SSL_get_verify_result(ssl_);
  const auto first = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(first);
  failure_ = reason == nullptr ? "the connection broke" : reason;
  if (!established_ && verified != X509_V_OK) {
    failure_ += std::string(": ") + X509_verify_cert_error_string(verified);
  }
  return tls_status::failed;
}

std::string_view tls_layer::alpn() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

const char* tls_layer::version() const { return SSL_get_version(ssl_); }

bool tls_layer::same_certificate(const tls_layer& acceptor, const tls_layer& connector) {
  const X509* ours = SSL_get_certificate(acceptor.ssl_);
  const X509* theirs = SSL_get0_peer_certificate(connector.ssl_);
  return ours != nullptr && theirs != nullptr && X509_cmp(ours, theirs) == 0;
}

} // namespace ledgergate::net
