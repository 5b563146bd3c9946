#include <algorithm>

#include "proxy/ctl/render.hpp"
#include "proxy/ctl/text.hpp"

namespace ledgergate::ctl {
namespace {

namespace json = boost::json;

constexpr std::size_t longest_name = 24;
constexpr std::size_t longest_query = 60;

std::string cell(const json::value& lock, std::string_view pointer, std::size_t columns = longest_name) {
  return shortened(text_at(lock, pointer).value_or("-"), columns);
}

/// A prepared transaction has no process: its identifier takes the place of the number.
std::string who(const json::value& lock) {
  if (const auto pid = number_at(lock, "/pid")) return std::to_string(*pid);
  return "prepared " + cell(lock, "/prepared_gid");
}

std::string state_of(const json::value& lock) {
  if (is_true_at(lock, "/waits_for_applier")) return "waits for the applier";
  if (!number_at(lock, "/pid")) return "prepared";
  return cell(lock, "/state");
}

std::string client_of(const json::value& lock) {
  const auto address = text_at(lock, "/client_address");
  const auto port = number_at(lock, "/client_port");
  if (!address) return number_at(lock, "/pid") ? "local" : "-";
  return port ? *address + ':' + std::to_string(*port) : *address;
}

page section(std::string title, const json::array* locks) {
  page result{{{std::move(title), style::strong}}};
  if (locks == nullptr || locks->empty()) return result;
  const page rows = render_gate_locks(*locks, locks->size(), "  ");
  result.insert(result.end(), rows.begin(), rows.end());
  return result;
}

std::int64_t size_of(const json::array* locks) {
  return locks == nullptr ? 0 : static_cast<std::int64_t>(locks->size());
}

} // namespace

page render_gate_locks(const json::array& locks, std::size_t most, std::string_view indent) {
  std::vector<std::vector<std::string>> rows{
      {"PID", "LOCK", "AGE", "WAITS", "STATE", "APPLICATION", "CLIENT", "SIDECAR", "QUERY"}};
  for (const json::value& lock : locks) {
    if (rows.size() > most) break;
    rows.push_back({who(lock), text_at(lock, "/hold") == "exclusive" ? "exclusive" : "-",
                    duration_cell(lock, "/age_ms"), duration_cell(lock, "/wait_ms"), state_of(lock),
                    cell(lock, "/application"), client_of(lock), cell(lock, "/sidecar"),
                    cell(lock, "/query", longest_query)});
  }
  // A column in which no row says anything is left out; that a lock is a pin goes without saying.
  for (std::size_t column = rows[0].size(); column-- > 0;) {
    const bool silent =
        std::all_of(rows.begin() + 1, rows.end(), [column](const auto& row) { return row[column] == "-"; });
    if (!silent) continue;
    for (auto& row : rows)
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  page result = table(rows, indent);
  if (locks.size() > most) {
    result.push_back(
        {{std::string(indent) + "and " + std::to_string(locks.size() - most) + " more", style::faint}});
  }
  return result;
}

page render_pins(const json::value& pins) {
  const json::array* holders = array_at(pins, "/holders");
  const json::array* waiters = array_at(pins, "/waiters");
  page result = section(counted(size_of(holders), "holder", "holders") + " of the gate", holders);
  const page waiting = section(counted(size_of(waiters), "waiter", "waiters"), waiters);
  result.insert(result.end(), waiting.begin(), waiting.end());
  return result;
}

} // namespace ledgergate::ctl
