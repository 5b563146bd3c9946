// Who else is connected to the ledger's database: the other sidecars, by the names of their control sessions,
// and the sessions that come neither through this sidecar nor from the address of another. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/transition/pin_snapshot.hpp"
#include "proxy/transition/sql_result.hpp"

namespace ledgergate::transition {

/// One control session in pg_stat_activity, named `ledgergate/VERSION@HOST`.
struct control_session {
  std::int32_t pid = 0;
  std::string name;
  std::string version;
  std::string host;
  std::optional<std::string> address; ///< as the server sees it; absent on a unix socket
  std::optional<wall_time> since;
};

/// One sidecar: what its control sessions have in common.
struct sidecar_seen {
  std::string name; ///< `ledgergate/VERSION@HOST`
  std::string version;
  std::string host;
  std::optional<std::string> address;
  std::optional<wall_time> since; ///< of its oldest control session
};

/// Any other client's session in the database.
struct client_session {
  std::int32_t pid = 0;
  std::string user;
  std::string application;
  std::optional<std::string> address;
};

/// Rows of statements::read_fleet(). A name that is not made like a sidecar's is left out.
std::vector<control_session> read_control_sessions(const result_set& set);
/// Rows of statements::read_sessions().
std::vector<client_session> read_client_sessions(const result_set& set);

/// Grouped by name and address, in the order of the names.
std::vector<sidecar_seen> sidecars_of(const std::vector<control_session>& sessions);

/// The name of the only other sidecar at this address; nothing when there is none, or several, or ours.
std::optional<std::string> sidecar_at(const std::vector<sidecar_seen>& sidecars, const std::string& own_name,
                                      const std::optional<std::string>& address);

/// What this sidecar knows about itself: the server's backends that serve its clients, and those of its
/// control sessions.
struct own_backends {
  std::vector<std::int32_t> clients;
  std::vector<std::int32_t> control;
};

/// Those that are not our own clients' and do not come from the address of another sidecar. The server shows
/// no more than the address: a session beside another sidecar, on its machine, is not told from its clients'.
std::vector<client_session> past_the_sidecars(const std::vector<client_session>& clients,
                                              const std::vector<control_session>& sidecars,
                                              const own_backends& own);

} // namespace ledgergate::transition
