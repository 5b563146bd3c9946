#include "proxy/control/connection_parameters.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <libpq-fe.h>

namespace ledgergate::control {

namespace {

struct free_options {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using options_ptr = std::unique_ptr<PQconninfoOption, free_options>;

std::map<std::string, std::string> given(const PQconninfoOption* option) {
  std::map<std::string, std::string> out;
  for (; option != nullptr && option->keyword != nullptr; ++option) {
    if (option->val != nullptr && *option->val != '\0') out[option->keyword] = option->val;
  }
  return out;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (;;) {
    const auto comma = list.find(',', begin);
    out.push_back(list.substr(begin, comma == std::string::npos ? comma : comma - begin));
    if (comma == std::string::npos) return out;
    begin = comma + 1;
  }
}

void append(std::string& list, const std::string& item, bool first) {
  if (!first) list += ',';
  list += item;
}

} // namespace

bool server_host::needs_lookup() const { return !name.empty() && name.front() != '/' && name.front() != '@'; }

boost::system::result<connection_parameters, parameters_error>
connection_parameters::parse(const std::string& dsn, const std::string& application_name) {
  char* message = nullptr;
  const options_ptr options(PQconninfoParse(dsn.c_str(), &message));
  if (!options) {
    parameters_error error{message == nullptr ? "out of memory" : message};
    PQfreemem(message);
    return error;
  }
  connection_parameters out;
  out.values_ = {
      // A dead network is noticed within a few seconds on our side, too.
      {"keepalives", "1"},
      {"keepalives_idle", "5"},
      {"keepalives_interval", "1"},
      {"keepalives_count", "3"},
      {"tcp_user_timeout", "5000"},
      // Transitions write, and advisory locks of a standby are not those of the primary.
      {"target_session_attrs", "primary"},
  };
  for (auto& [keyword, value] : given(options.get()))
    out.values_[keyword] = value;
  // A sidecar is known by its name, and quoting relies on the encoding.
  out.values_["application_name"] = application_name;
  out.values_["client_encoding"] = "UTF8";
  // A role's own statement_timeout must not cut the set-up short, which then sets what holds for the session.
  auto& startup_options = out.values_["options"];
  startup_options = "-c statement_timeout=5000" + (startup_options.empty() ? "" : " " + startup_options);

  if (const auto timeout = out.values_.find("connect_timeout"); timeout != out.values_.end()) {
    int seconds = 0;
    std::from_chars(timeout->second.data(), timeout->second.data() + timeout->second.size(), seconds);
    if (seconds > 0) out.connect_timeout_ = std::chrono::seconds(seconds);
  }
  if (out.values_.contains("hostaddr") || out.values_.contains("service")) return out;

  const options_ptr defaults(PQconndefaults()); // PGHOST and PGPORT
  const auto from_environment = given(defaults.get());
  const auto value_of = [&](const std::string& keyword) {
    if (const auto found = out.values_.find(keyword); found != out.values_.end()) return found->second;
    if (const auto found = from_environment.find(keyword); found != from_environment.end())
      return found->second;
    return std::string();
  };
  const auto names = split(value_of("host"));
  const auto ports = split(value_of("port"));
  for (std::size_t i = 0; i < names.size(); ++i) {
    // One port serves all hosts; a list of the wrong length is libpq's to refuse.
    if (ports.size() != 1 && ports.size() != names.size()) {
      out.hosts_.clear();
      return out;
    }
    out.hosts_.push_back({names[i], ports.size() == 1 ? ports[0] : ports[i]});
  }
  return out;
}

std::map<std::string, std::string>
connection_parameters::with_addresses(const std::vector<std::vector<std::string>>& addresses) const {
  auto out = values_;
  std::string names, ports, numbers;
  bool first = true;
  const auto add = [&](const server_host& host, const std::string& address) {
    append(names, host.name, first);
    append(ports, host.port, first);
    append(numbers, address, first);
    first = false;
  };
  bool looked_up = false;
  for (std::size_t i = 0; i < hosts_.size() && i < addresses.size(); ++i) {
    if (!hosts_[i].needs_lookup()) add(hosts_[i], {});
    for (const auto& address : addresses[i]) {
      looked_up = true;
      add(hosts_[i], address);
    }
  }
  if (!looked_up) return out;
  out["host"] = names;
  out["port"] = ports;
  out["hostaddr"] = numbers;
  return out;
}

std::string application_name(const std::string& version, const std::string& host_name) {
  constexpr std::size_t name_bytes = 63;
  std::string name = "ledgergate/" + version + "@" + host_name;
  for (char& c : name) {
    if (c < 32 || c > 126) c = '?';
  }
  name.resize(std::min(name.size(), name_bytes));
  return name;
}

} // namespace ledgergate::control
