#include "proxy/tls/channel_binding.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "proxy/tls/files.hpp"

namespace ledgergate::tls {

namespace {

constexpr auto remedies =
    ". With TLS on both sides a client's SCRAM channel binding (libpq's default) is of the certificate that "
    "it "
    "sees, and the server compares it with its own. Put the server's own certificate and key here; or have "
    "TLS "
    "on one side only; or, when no client binds channels (channel_binding=disable, drivers without it, "
    "authentication other than SCRAM), say channel_binding: disabled";

/// Why the server's verification would not accept it; empty when it would.
std::string issuer_problem(X509& certificate, STACK_OF(X509) * chain, const context& theirs) {
  const store_context_ptr verification(X509_STORE_CTX_new());
  ERR_clear_error();
  if (!verification || X509_STORE_CTX_init(verification.get(), SSL_CTX_get_cert_store(theirs.get()),
                                           &certificate, chain) != 1) {
    return take_openssl_error();
  }
  X509_STORE_CTX_set_default(verification.get(), "ssl_server");
  if (X509_verify_cert(verification.get()) == 1) return {};
  ERR_clear_error();
  return X509_verify_cert_error_string(X509_STORE_CTX_get_error(verification.get()));
}

bool names(X509& certificate, const std::string& host) {
  return X509_check_ip_asc(&certificate, host.c_str(), 0) == 1 ||
         X509_check_host(&certificate, host.c_str(), host.size(), 0, nullptr) == 1;
}

} // namespace

std::string binding_problem(const config::server_tls_settings& listener, const context& ours,
                            const config::upstream_settings& upstream, const context& theirs) {
  if (!ours || !theirs || listener.channel_binding == config::channel_binding_policy::disabled) return {};
  X509* certificate = SSL_CTX_get0_certificate(ours.get());
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(ours.get(), &chain);
  const std::string beginning = listener.cert + " cannot be the server's own certificate: ";
  if (!upstream.tls.ca.empty()) {
    const std::string why = issuer_problem(*certificate, chain, theirs);
    if (!why.empty()) return beginning + "by " + upstream.tls.ca + " it is refused (" + why + ")" + remedies;
  }
  if (upstream.tls.mode != config::upstream_tls_mode::verify_full) return {};
  const auto named = [&](const config::endpoint& host) {
    return host.is_unix() || names(*certificate, host.host);
  };
  if (std::any_of(upstream.hosts.begin(), upstream.hosts.end(), named)) return {};
  return beginning + "it names none of the hosts of upstream.host, as verify-full demands" + remedies;
}

} // namespace ledgergate::tls
