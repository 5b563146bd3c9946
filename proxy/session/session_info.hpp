// One session as an operator sees it. A value, taken on the session's own thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace ledgergate::session {

struct session_info {
  std::string client; ///< address and port, or `unix`
  std::string user;
  std::string database;
  std::string gate;  ///< `gated`, `ungated` or `replication`
  std::string state; ///< `starting`, `idle`, `active`, `in transaction`, `in failed transaction`, `waiting
                     ///< for the server` (its pin first of all), `waiting for the client` (in the middle of a
                     ///< batch), `relayed` (without the gate), `ending`
  bool pinned = false;
  std::optional<std::int32_t> backend_pid; ///< of the server's process, once it said so
  std::string client_tls; ///< `TLSv1.3`; empty in clear
  std::string server_tls;
  std::uint64_t bytes_from_client = 0;
  std::uint64_t bytes_from_server = 0;
  std::chrono::milliseconds age{0};
};

} // namespace ledgergate::session
