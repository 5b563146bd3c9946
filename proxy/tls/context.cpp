#include "proxy/tls/context.hpp"

#include <openssl/err.h>

#include <utility>

#include "proxy/tls/files.hpp"

namespace ledgergate::tls {

namespace {

struct free_context {
  void operator()(SSL_CTX* what) const { SSL_CTX_free(what); }
};

int version_of(config::tls_version version) {
  return version == config::tls_version::v1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

context new_context(const SSL_METHOD* method, config::tls_version min, config::tls_version max) {
  context made(SSL_CTX_new(method), free_context());
  if (!made) return made;
  SSL_CTX_set_min_proto_version(made.get(), version_of(min));
  SSL_CTX_set_max_proto_version(made.get(), version_of(max));
  // As PostgreSQL does: no renegotiation, no compression, no session resumption. A peer that closes without
  // its close_notify is an end like a FIN: every message of the protocol has its length.
  SSL_CTX_set_options(made.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                      SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(made.get(), 0);
  // An idle connection owns no buffers.
  SSL_CTX_set_mode(made.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  return made;
}

/// Our certificate with its chain, and its key.
void use_identity(SSL_CTX& target, file_reader& files, const std::string& cert, const std::string& key) {
  const auto chain = files.certificates("cert", cert);
  const key_ptr secret = files.private_key("key", key);
  if (chain.empty()) return;
  ERR_clear_error();
  if (SSL_CTX_use_certificate(&target, chain.front().get()) != 1) {
    return files.fail("cert", cert + " cannot be used: " + take_openssl_error());
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(&target, chain[i].get()) != 1) {
      return files.fail("cert", cert + " has a certificate that cannot be used: " + take_openssl_error());
    }
  }
  if (!secret) return;
  if (X509_check_private_key(chain.front().get(), secret.get()) != 1) {
    ERR_clear_error();
    return files.fail("key", key + " is not the key of " + cert);
  }
  if (SSL_CTX_use_PrivateKey(&target, secret.get()) != 1) {
    files.fail("key", key + " cannot be used: " + take_openssl_error());
  }
}

/// Who may have issued the peer's certificate, and what was revoked.
void use_authorities(SSL_CTX& target, file_reader& files, const std::string& ca_key, const std::string& ca,
                     const std::string& crl_key, const std::string& crl) {
  X509_STORE* store = SSL_CTX_get_cert_store(&target);
  for (const certificate_ptr& each : files.certificates(ca_key, ca)) {
    X509_STORE_add_cert(store, each.get());
    SSL_CTX_add_client_CA(&target, each.get());
  }
  if (crl.empty()) return;
  for (const crl_ptr& each : files.revocations(crl_key, crl))
    X509_STORE_add_crl(store, each.get());
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
}

/// The names that a client offers are length-prefixed strings (RFC 7301). `wanted` is one of those.
int choose_alpn(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                unsigned int offered_size, void* wanted) {
  const auto& name = *static_cast<const std::string*>(wanted);
  for (unsigned int at = 0; at < offered_size; at += 1U + offered[at]) {
    const std::string_view one(reinterpret_cast<const char*>(offered) + at + 1, offered[at]);
    if (one != name) continue;
    *out = offered + at + 1;
    *out_size = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

void free_name(void*, void* name, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<std::string*>(name);
}

/// The context owns the name that its callback compares with.
void use_alpn(SSL_CTX& target, const std::string& name) {
  static const int slot = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_name);
  auto owned = std::make_unique<std::string>(name);
  std::string* kept = owned.get();
  if (SSL_CTX_set_ex_data(&target, slot, kept) != 1) return;
  static_cast<void>(owned.release());
  SSL_CTX_set_alpn_select_cb(&target, choose_alpn, kept);
}

context_result finish(context made, file_reader& files) {
  if (files.failed()) return files.take_errors();
  return made;
}

} // namespace

server_profile postgres_profile() { return {"postgresql", 8192}; }

server_profile http_profile() { return {"http/1.1", 0}; }

context_result make_server_context(const config::server_tls_settings& settings, const std::string& path,
                                   const server_profile& profile) {
  file_reader files(path);
  context made = new_context(TLS_server_method(), settings.min_version, settings.max_version);
  if (!made) {
    files.fail("mode", "OpenSSL gives no context: " + take_openssl_error());
    return files.take_errors();
  }
  use_identity(*made, files, settings.cert, settings.key);
  if (!settings.client_ca.empty()) {
    use_authorities(*made, files, "client_ca", settings.client_ca, "client_crl", settings.client_crl);
    const bool required = settings.client_certificate == config::client_certificate_policy::required;
    SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                       nullptr);
  }
  use_alpn(*made, profile.alpn);
  if (profile.max_record_bytes != 0) SSL_CTX_set_max_send_fragment(made.get(), profile.max_record_bytes);
  return finish(std::move(made), files);
}

context_result make_upstream_context(const config::upstream_tls_settings& settings, const std::string& path) {
  file_reader files(path);
  context made = new_context(TLS_client_method(), settings.min_version, settings.max_version);
  if (!made) {
    files.fail("mode", "OpenSSL gives no context: " + take_openssl_error());
    return files.take_errors();
  }
  // PostgreSQL 17 and newer look at it, older ones do not know it.
  static constexpr unsigned char alpn[] = "\x0apostgresql";
  SSL_CTX_set_alpn_protos(made.get(), alpn, sizeof alpn - 1);
  if (!settings.cert.empty()) use_identity(*made, files, settings.cert, settings.key);
  if (!settings.ca.empty()) {
    use_authorities(*made, files, "ca", settings.ca, "crl", settings.crl);
    SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
  }
  return finish(std::move(made), files);
}

} // namespace ledgergate::tls
