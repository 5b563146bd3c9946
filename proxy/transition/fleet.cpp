#include "proxy/transition/fleet.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "proxy/transition/columns.hpp"

namespace ledgergate::transition {

namespace {

constexpr std::string_view sidecar_prefix = "ledgergate/";

bool contains(const std::vector<std::int32_t>& pids, std::int32_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

} // namespace

std::vector<control_session> read_control_sessions(const result_set& set) {
  std::vector<control_session> out;
  for (const auto& row : set.rows) {
    control_session session;
    session.pid = number<std::int32_t>(column(row, 0)).value_or(0);
    session.name = column(row, 1).value_or("");
    session.address = column(row, 2);
    session.since = moment_of(column(row, 3));
    const auto at = session.name.find('@');
    if (!session.name.starts_with(sidecar_prefix) || at == std::string::npos) continue;
    session.version = session.name.substr(sidecar_prefix.size(), at - sidecar_prefix.size());
    session.host = session.name.substr(at + 1);
    out.push_back(std::move(session));
  }
  return out;
}

std::vector<client_session> read_client_sessions(const result_set& set) {
  std::vector<client_session> out;
  for (const auto& row : set.rows) {
    out.push_back({number<std::int32_t>(column(row, 0)).value_or(0), column(row, 1).value_or(""),
                   column(row, 2).value_or(""), column(row, 3)});
  }
  return out;
}

std::vector<sidecar_seen> sidecars_of(const std::vector<control_session>& sessions) {
  std::map<std::pair<std::string, std::optional<std::string>>, sidecar_seen> by_name;
  for (const control_session& session : sessions) {
    sidecar_seen& seen = by_name[{session.name, session.address}];
    if (seen.name.empty() || (session.since && (!seen.since || *session.since < *seen.since))) {
      seen = {session.name, session.version, session.host, session.address, session.since};
    }
  }
  std::vector<sidecar_seen> out;
  for (auto& [name, seen] : by_name)
    out.push_back(std::move(seen));
  return out;
}

std::optional<std::string> sidecar_at(const std::vector<sidecar_seen>& sidecars, const std::string& own_name,
                                      const std::optional<std::string>& address) {
  std::optional<std::string> found;
  for (const sidecar_seen& seen : sidecars) {
    if (seen.address != address) continue;
    if (found || seen.name == own_name) return std::nullopt;
    found = seen.name;
  }
  return found;
}

std::vector<client_session> past_the_sidecars(const std::vector<client_session>& clients,
                                              const std::vector<control_session>& sidecars,
                                              const own_backends& own) {
  const auto comes_from_another = [&](const client_session& client) {
    return std::any_of(sidecars.begin(), sidecars.end(), [&](const control_session& sidecar) {
      return !contains(own.control, sidecar.pid) && sidecar.address == client.address;
    });
  };
  std::vector<client_session> out;
  for (const client_session& client : clients) {
    if (!contains(own.clients, client.pid) && !comes_from_another(client)) out.push_back(client);
  }
  return out;
}

} // namespace ledgergate::transition
