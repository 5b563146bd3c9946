// transitions, limits, drain, log: the clocks and the bounds.
#include "config/identifier.hpp"
#include "config/ranges.hpp"
#include "config/sections.hpp"

namespace ledgergate::config {
namespace {

using statements_by_mode = std::map<std::string, std::vector<std::string>>;

// `guards` and `steps`. Whether the keys are modes is for check_across(), which knows them.
void read_statements(const section_reader& transitions, std::string_view key, statements_by_mode& target) {
  const node* value = transitions.find(key);
  if (value == nullptr) return;
  if (value->kind != node_kind::map) {
    transitions.context().error(transitions.path_of(key),
                                "must be a mapping of a mode to a list of SQL statements");
    return;
  }
  std::vector<std::string_view> modes;
  for (const node& child : value->children)
    modes.push_back(child.key);
  const section_reader section{transitions.context(), *value, transitions.path_of(key), modes};
  for (const auto mode : modes) {
    if (target.contains(std::string{mode})) continue;
    auto& statements = target[std::string{mode}];
    const auto items = section.items(mode, "SQL statements");
    for (std::size_t index = 0; index < items.size(); ++index) {
      const std::string path = item_path(section.path_of(mode), index);
      const std::string* statement = string_of(section.context(), *items[index], path, "an SQL statement");
      if (statement != nullptr) statements.push_back(*statement);
    }
  }
}

void read_evict_idle_after(const section_reader& transitions, std::optional<milliseconds>& target) {
  const node* value = transitions.find("evict_idle_after");
  if (value == nullptr) return;
  const std::string path = transitions.path_of("evict_idle_after");
  const std::string* written = scalar_of(transitions.context(), *value, path, "off or a duration");
  if (written == nullptr || *written == "off") return;
  const auto duration = parse_duration(*written, ranges::evict_idle_after);
  if (duration) target = *duration;
  if (!duration) {
    transitions.context().error(path, refusal(*written, duration.error().message + "; or off"));
  }
}

} // namespace

void read_transitions(const section_reader& root, transition_settings& target) {
  const auto section =
      root.section("transitions", {"deadline", "queue_budget", "hold_budget", "applier_timeout",
                                   "max_waiting_pins", "evict_idle_after", "guards", "steps", "notify"});
  section.duration("deadline", target.deadline, ranges::deadline);
  section.duration("queue_budget", target.queue_budget, ranges::queue_budget);
  section.duration("hold_budget", target.hold_budget, ranges::hold_budget);
  section.duration("applier_timeout", target.applier_timeout, ranges::applier_timeout);
  section.number("max_waiting_pins", target.max_waiting_pins, ranges::max_waiting_pins);
  read_evict_idle_after(section, target.evict_idle_after);
  read_statements(section, "guards", target.guards);
  read_statements(section, "steps", target.steps);

  const std::string channel =
      section.text("notify", "the name of a NOTIFY channel", null_value::means_absent);
  if (channel.empty()) return;
  auto name = parse_identifier(channel);
  if (name) target.notify = std::move(*name);
  if (!name) section.context().error(section.path_of("notify"), refusal(channel, name.error().message));
}

void read_limits(const section_reader& root, limit_settings& target) {
  const auto section =
      root.section("limits", {"max_clients", "client_startup_timeout", "max_buffered_statement", "threads"});
  section.number("max_clients", target.max_clients, ranges::max_clients);
  section.duration("client_startup_timeout", target.client_startup_timeout, ranges::client_startup_timeout);
  section.size("max_buffered_statement", target.max_buffered_statement_bytes, ranges::max_buffered_statement);

  const node* threads = section.find("threads");
  if (threads == nullptr) return;
  const std::string allowed = "auto or a whole number from " + std::to_string(ranges::threads.min) + " to " +
                              std::to_string(ranges::threads.max);
  const std::string* written = scalar_of(section.context(), *threads, section.path_of("threads"), allowed);
  if (written == nullptr || *written == "auto") return;
  const auto count = parse_number(*written, ranges::threads);
  if (count && !threads->quoted) {
    target.threads = static_cast<unsigned>(*count);
  } else {
    section.context().error(section.path_of("threads"),
                            refusal(*written, "must be " + allowed + ", without quotes"));
  }
}

void read_drain(const section_reader& root, drain_settings& target) {
  const auto section = root.section("drain", {"timeout", "accept_for"});
  section.duration("timeout", target.timeout, ranges::drain_timeout);
  section.duration("accept_for", target.accept_for, ranges::drain_accept_for);
}

void read_log(const section_reader& root, log_settings& target) {
  const auto section = root.section("log", {"level", "format", "statements"});
  section.choice("level", target.level, log_level_names);
  section.choice("format", target.format, log_format_names);
  section.choice("statements", target.statements, log_statements_names);
}

} // namespace ledgergate::config
