// The gate engine of one client session: bytes of both sides in, bytes for both sides out.
// Pure: never reads, writes, waits, logs or asks the time. Used from one thread. One object per session.
//
// The session calls on_client_bytes / on_server_bytes with everything it has not yet got rid of for that
// side, contiguous. The engine consumes whole messages (and passes big ones through piecewise where it need
// not see them whole) and says how many bytes it took; the rest is offered again together with what arrives
// next. It takes nothing while it is paused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/gate/actions.hpp"
#include "proxy/gate/counters.hpp"
#include "proxy/gate/gate_rules.hpp"

namespace ledgergate::gate {

/// How the gate treats a session; decided from its StartupMessage.
enum class session_kind : std::uint8_t {
  ungated, ///< another database, gate.mode off, or physical replication (which runs no SQL): followed through
           ///< start-up only
  gated,
  replication, ///< `replication=database` on the gated database: commands pass, SQL is gated, FunctionCall is
               ///< not available
};

class session_engine {
 public:
  /// An ungated session is_raw() after start-up. `counters` must outlive the engine. Starts right after the
  /// StartupMessage was forwarded.
  session_engine(std::shared_ptr<const gate_rules> rules, session_kind kind, statement_counters& counters);
  ~session_engine();
  session_engine(const session_engine&) = delete;
  session_engine& operator=(const session_engine&) = delete;

  /// Appends to `out` (which the caller has cleared). Returns the number of bytes consumed.
  std::size_t on_client_bytes(std::string_view bytes, actions& out);
  std::size_t on_server_bytes(std::string_view bytes, actions& out);

  /// The answer to actions::ask_control_row: the transaction (xid8) that last wrote the control row, read on
  /// the control connection after the question was asked; nothing when it could not be read.
  void on_control_row(std::optional<std::uint64_t> writer, actions& out);

  /// The rules have changed. Statements prepared before are judged anew when they are next used.
  void use_rules(std::shared_ptr<const gate_rules> rules);

  /// The answer to actions::refresh_catalog. `current`: the catalog was read after the question was asked and
  /// the rules in use are made from it; otherwise everything stays a touch, and the question is asked again.
  void on_catalog(bool current, actions& out);

  /// The client side waits for the server (an envelope, a certain state): no client bytes will be consumed
  /// before actions::resume_client. The session goes on watching the socket for the client's end.
  bool client_paused() const;

  /// The message at the front of the client's unconsumed bytes must be whole before anything can be decided:
  /// its total size in bytes, or 0. At most gate_rules::max_buffered_statement_bytes plus a header.
  std::size_t client_bytes_wanted() const;
  /// The same for the server's bytes (only short messages are looked at whole).
  std::size_t server_bytes_wanted() const;

  /// Start-up is over and nothing is gated: bytes may be relayed both ways without the engine.
  bool is_raw() const;

  /// Replies are outstanding (client's or the proxy's own): a client that vanishes now must be cancelled on
  /// the server.
  bool replies_outstanding() const;
  /// What is outstanding comes only after a further message of the client: a batch without its Sync, COPY
  /// data, a password.
  bool awaits_client() const;
  /// The state letter of the last ReadyForQuery ('I', 'T', 'E'), or 0 before the first.
  char transaction_status() const;
  /// A pin or a session-level hold is known to be held or in flight.
  bool pinned() const;

 private:
  std::unique_ptr<class engine_core> core_;
};

} // namespace ledgergate::gate
