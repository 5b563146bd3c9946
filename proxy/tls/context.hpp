// TLS contexts from settings. Every file is read and checked here, so that what is wrong with it is known
// when the configuration is read, and all of it at once. OpenSSL stays in the .cpp files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "config/settings.hpp"

struct ssl_ctx_st; ///< OpenSSL's SSL_CTX

namespace ledgergate::tls {

/// Shared by the connections that were made with it: replacing it elsewhere leaves those as they are. Never
/// changed after it was built; may be used from several threads. `context.get()` is an `SSL_CTX*`; who hands
/// it to a library that frees it (asio::ssl::context does) calls SSL_CTX_up_ref first.
using context = std::shared_ptr<ssl_ctx_st>;

struct setup_error {
  std::string key;     ///< path in ledgergate.yaml: `listen[0].tls.cert`
  std::string message; ///< names the file and says what is wrong with it; never holds any of its contents
};

using context_result = boost::system::result<context, std::vector<setup_error>>;

/// What the application protocol needs beyond the settings.
struct server_profile {
  std::string alpn; ///< the only name that is agreed to (RFC 7301); who offers names without it is refused
  /// Longest record that is sent, 0 for the standard's 16 KiB. libpq's asynchronous calls drain 8 KiB at one
  /// readiness: a longer record would leave a client waiting for bytes that it has.
  unsigned max_record_bytes = 0;
};

/// PostgreSQL manual, "SSL Session Encryption": ALPN is `postgresql`.
server_profile postgres_profile();
/// HTTP/1.1 of the admin port.
server_profile http_profile();

/// `path`: where the settings stand in ledgergate.yaml, `listen[0].tls`. The mode must not be off. Blocks on
/// the file system.
[[nodiscard]] context_result make_server_context(const config::server_tls_settings& settings,
                                                 const std::string& path, const server_profile& profile);

/// Towards the server. With `ca` the server's certificate must be issued by it, whatever the mode; that it
/// names the host is for the connection to check (verify-full), since hosts are several.
[[nodiscard]] context_result make_upstream_context(const config::upstream_tls_settings& settings,
                                                   const std::string& path);

} // namespace ledgergate::tls
