// The whole of ledgergate.yaml as one immutable, validated value. Defaults stand here and nowhere else.
// Built by load_file() and load_text(); shared by pointer to const; never changed after it was built.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/position.hpp"

namespace ledgergate::config {

using namespace std::chrono_literals;
using milliseconds = std::chrono::milliseconds;

/// A place to listen on or to connect to: `host:port` over TCP, or a unix socket.
struct endpoint {
  std::string host;       ///< name or address; empty for a unix socket
  std::uint16_t port = 0; ///< also names the socket file `.s.PGSQL.PORT` of a unix folder
  std::string unix_path;  ///< `unix:/path`: a folder of PostgreSQL sockets, or the admin socket itself
  bool is_unix() const { return !unix_path.empty(); }
  bool operator==(const endpoint&) const = default;
};

enum class tls_version { v1_2, v1_3 };
enum class server_tls_mode { off, allow, require };
enum class upstream_tls_mode { off, prefer, require, verify_ca, verify_full };
/// With `client_ca`: whether a client without a certificate is let in. One with a bad certificate never is.
enum class client_certificate_policy { required, optional };
/// How SCRAM's channel binding (RFC 5929, tls-server-end-point) comes out with TLS on both legs: the listener
/// shows the server's own certificate, or no client uses it.
enum class channel_binding_policy { same_certificate, disabled };

/// `tls:` where others connect to us. Files are PEM; paths are relative to the working directory.
struct server_tls_settings {
  server_tls_mode mode = server_tls_mode::off;
  std::string cert;       ///< our certificate and its chain; required unless the mode is off
  std::string key;        ///< its private key; required unless the mode is off
  std::string client_ca;  ///< certificates are asked of clients and must be issued by one of these; or empty
  std::string client_crl; ///< revoked ones among them; or empty
  client_certificate_policy client_certificate = client_certificate_policy::required;
  channel_binding_policy channel_binding = channel_binding_policy::same_certificate; ///< of `listen` alone
  tls_version min_version = tls_version::v1_2;
  tls_version max_version = tls_version::v1_3;
  bool operator==(const server_tls_settings&) const = default;
};

/// `upstream.tls:` where we connect to the server.
struct upstream_tls_settings {
  upstream_tls_mode mode = upstream_tls_mode::off;
  std::string ca;   ///< who may have issued the server's certificate; required by verify-ca and verify-full
  std::string crl;  ///< revoked ones; or empty
  std::string cert; ///< our certificate towards the server and its chain; or empty
  std::string key;  ///< its private key
  tls_version min_version = tls_version::v1_2;
  tls_version max_version = tls_version::v1_3;
  bool operator==(const upstream_tls_settings&) const = default;
};

/// `listen:` one client-facing endpoint. `unix:/dir` takes the port from `port:` beside it (default 5432).
struct listen_settings {
  endpoint address;
  server_tls_settings tls;
  bool operator==(const listen_settings&) const = default;
};

/// `upstream:` the PostgreSQL server; hosts are tried in order.
struct upstream_settings {
  std::vector<endpoint> hosts;
  milliseconds connect_timeout = 5s;
  upstream_tls_settings tls;
};

/// `control:` where transitions and pin watching run.
struct control_settings {
  std::string dsn; ///< libpq connection string; a password in it is redacted when shown
};

enum class gate_mode { enforce, observe, off };
enum class pin_on { any, lock, write };
enum class in_band_policy { exclusive, deny };
enum class catalog_on_error { closed, names_only };

/// One gated table. `schema` is empty when the rule names none: then it matches in every schema.
struct table_rule {
  std::string schema;
  std::string name; ///< folded as PostgreSQL folds an unquoted name, cut at 63 bytes
  enum pin_on on = pin_on::any;
  std::vector<std::string> columns; ///< only with `write`: assigned columns that touch; empty means all
  bool operator==(const table_rule&) const = default;
};

/// `gate.catalog:` what the system catalogs add to the configured names.
struct catalog_settings {
  bool closure = true;        ///< views, triggers, functions, .. that lead to the ledger are gated too
  milliseconds refresh = 30s; ///< 1s to 1h; DDL that passes by is not waited for
  /// Until the catalogs were read once: pin whatever is not clearly harmless, or trust the names alone.
  catalog_on_error on_error = catalog_on_error::closed;
  bool operator==(const catalog_settings&) const = default;
};

/// `gate:` what is gated and by which keys.
struct gate_settings {
  gate_mode mode = gate_mode::enforce;
  std::string database;      ///< default: the database of control.dsn
  std::int64_t lock_key = 0; ///< required
  std::optional<std::int64_t> applier_lock_key;
  std::vector<std::int32_t> pin_before_locks; ///< first int4 of two-key locks that come after the pin
  std::vector<table_rule> tables;
  std::vector<std::string> functions; ///< folded `name` or `schema.name`: a call touches
  catalog_settings catalog;
  in_band_policy in_band_transitions = in_band_policy::exclusive;
};

/// `control_row:` the single row that says which mode is in force.
struct control_row_settings {
  std::string table; ///< as written; may be schema-qualified
  std::string where; ///< SQL condition that selects exactly one row
  std::string mode_column = "mode";
  std::optional<std::string> changed_at_column;
  bool operator==(const control_row_settings&) const = default;
};

/// `transitions:` both clocks and what runs inside the transition.
struct transition_settings {
  milliseconds deadline = 30s;        ///< 100ms to 10m
  milliseconds queue_budget = 500ms;  ///< 10ms to 60s
  milliseconds hold_budget = 5s;      ///< 100ms to 60s
  milliseconds applier_timeout = 10s; ///< 100ms to 5m
  unsigned max_waiting_pins = 1000;
  std::optional<milliseconds> evict_idle_after;           ///< 1s to 1h; absent: `off`, nobody is ended
  std::map<std::string, std::vector<std::string>> guards; ///< per target mode: SQL that must return true
  std::map<std::string, std::vector<std::string>> steps;  ///< per target mode: SQL run inside the transition
  std::optional<std::string> notify;                      ///< NOTIFY channel, folded as in LISTEN
};

/// `admin:` the operators' HTTP port.
struct admin_settings {
  endpoint address{"127.0.0.1", 6433, {}};
  server_tls_settings tls; ///< off, or require: HTTPS alone
  std::optional<std::string> token_file;        ///< without it every mutating call is refused
  std::optional<std::string> viewer_token_file; ///< with it, reading needs one of the two tokens
};

struct limit_settings {
  std::size_t max_clients = 1000;
  milliseconds client_startup_timeout = 10s;
  std::size_t max_buffered_statement_bytes = 16 * 1024 * 1024;
  std::optional<unsigned> threads; ///< absent: `auto`, one per processor
};

struct drain_settings {
  milliseconds timeout = 30s;
  /// After SIGTERM clients are still served, new ones too, for so long before the drain begins: the app,
  /// which is told to end at the same moment, must not lose its proxy first.
  milliseconds accept_for{0};
};

enum class log_level { trace, debug, info, warn, error };
enum class log_format { text, json };
enum class log_statements { redacted, full, none };

struct log_settings {
  log_level level = log_level::info;
  log_format format = log_format::text;
  log_statements statements = log_statements::redacted;
};

struct settings {
  std::vector<listen_settings> listen;
  upstream_settings upstream;
  control_settings control;
  gate_settings gate;
  control_row_settings control_row;
  std::vector<std::string> modes; ///< at least two, distinct
  transition_settings transitions;
  admin_settings admin;
  limit_settings limits;
  drain_settings drain;
  log_settings log;
  /// Paths of the keys that the file gave (`gate.lock_key`), and where; everything else is a default.
  std::map<std::string, position, std::less<>> given;
};

} // namespace ledgergate::config
