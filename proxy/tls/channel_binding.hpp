// SCRAM's channel binding through a relay: with TLS on both legs a client hashes the certificate that the
// sidecar shows it, and the server its own. Both must be one (RFC 5929, tls-server-end-point).
#pragma once

#include <string>

#include "config/settings.hpp"
#include "proxy/tls/context.hpp"

namespace ledgergate::tls {

/// Why no client that binds channels could log in through this listener; empty when one can, when it cannot
/// be told before the server has shown its certificate, or when the configuration says that none will. What
/// can be told without the server: a certificate that `upstream.tls` would not accept from the server (wrong
/// issuer, or with verify-full none of the hosts' names) is not the server's own.
std::string binding_problem(const config::server_tls_settings& listener, const context& ours,
                            const config::upstream_settings& upstream, const context& theirs);

} // namespace ledgergate::tls
