// gate, control, control_row, modes: what is gated, by which keys, and where the mode stands.
#include <optional>
#include <utility>

#include "config/dsn.hpp"
#include "config/identifier.hpp"
#include "config/ranges.hpp"
#include "config/sections.hpp"

namespace ledgergate::config {
namespace {

constexpr auto name_allowed = "a PostgreSQL name: name, schema.name or \"Name\"";
constexpr auto column_allowed = "a column name: name or \"Name\"";

// An absent key is an error only where it is required; either way it yields an empty text.
std::string text_or_missing(const section_reader& section, std::string_view key, std::string_view allowed,
                            gate_keys keys) {
  if (keys == gate_keys::required)
    section.find_required(key, std::string{allowed}.append(" (unless gate.mode is off)"));
  return section.text(key, allowed);
}

std::optional<std::int64_t> read_key(const section_reader& section, std::string_view key) {
  const node* value = section.find(key);
  const std::string path = section.path_of(key);
  const std::string* written =
      scalar_of(section.context(), *value, path, "a 64-bit advisory lock key, decimal or 0x");
  if (written == nullptr) return std::nullopt;
  const auto parsed = parse_key(*written);
  if (parsed) return *parsed;
  section.context().error(path, refusal(*written, parsed.error().message));
  return std::nullopt;
}

void read_keys(const section_reader& gate, gate_keys keys, gate_settings& target) {
  constexpr auto allowed = "a 64-bit advisory lock key, decimal or 0x (unless gate.mode is off)";
  const bool has_lock_key = keys == gate_keys::required ? gate.find_required("lock_key", allowed) != nullptr
                                                        : gate.find("lock_key") != nullptr;
  const auto lock_key = has_lock_key ? read_key(gate, "lock_key") : std::nullopt;
  target.lock_key = lock_key.value_or(0);
  const node* applier = gate.find("applier_lock_key");
  if (applier == nullptr || applier->kind == node_kind::null) return;
  target.applier_lock_key = read_key(gate, "applier_lock_key");
  if (lock_key && target.applier_lock_key == lock_key) {
    gate.context().error(gate.path_of("applier_lock_key"),
                         "is equal to gate.lock_key; must be another key, since a transition takes both");
  }
}

void read_pin_before_locks(const section_reader& gate, std::vector<std::int32_t>& target) {
  constexpr auto allowed = "a 32-bit advisory lock namespace, decimal or 0x";
  const auto items = gate.items("pin_before_locks", "32-bit advisory lock namespaces");
  for (std::size_t index = 0; index < items.size(); ++index) {
    const std::string path = item_path(gate.path_of("pin_before_locks"), index);
    const std::string* written = scalar_of(gate.context(), *items[index], path, allowed);
    if (written == nullptr) continue;
    const auto parsed = parse_key_part(*written);
    if (!parsed) {
      gate.context().error(path, refusal(*written, parsed.error().message));
    } else if (std::find(target.begin(), target.end(), *parsed) != target.end()) {
      gate.context().error(
          path, refusal(*written, "it is in this list already; each namespace must be named once"));
    } else {
      target.push_back(*parsed);
    }
  }
}

void read_columns(const section_reader& item, enum pin_on on, std::vector<std::string>& target) {
  if (item.find("columns") == nullptr) return;
  const std::string path = item.path_of("columns");
  load_context& context = item.context();
  const auto items = item.items("columns", "column names");
  if (items.empty() && !context.has_error(path)) {
    context.error(path, "is empty; must name at least one column, or be left out to mean all of them");
  }
  if (on != pin_on::write && !context.has_error(item.path_of("pin_on"))) {
    context.error(path, "is only allowed together with pin_on: write");
  }
  for (std::size_t index = 0; index < items.size(); ++index) {
    const std::string* written = string_of(context, *items[index], item_path(path, index), column_allowed);
    if (written == nullptr) continue;
    auto column = parse_identifier(*written);
    if (!column) {
      context.error(item_path(path, index), refusal(*written, column.error().message));
    } else if (std::find(target.begin(), target.end(), *column) != target.end()) {
      context.error(item_path(path, index),
                    refusal(*written, "it is in this list already; each column must be named once"));
    } else {
      target.push_back(std::move(*column));
    }
  }
}

void read_table(const section_reader& item, std::vector<table_rule>& target) {
  table_rule rule;
  item.choice("pin_on", rule.on, pin_on_names);
  read_columns(item, rule.on, rule.columns);
  if (item.find_required("name", name_allowed) == nullptr) return;
  const std::string written = item.text("name", name_allowed);
  if (written.empty()) return;
  auto name = parse_qualified_name(written);
  if (!name) {
    item.context().error(item.path_of("name"), refusal(written, name.error().message));
    return;
  }
  rule.schema = std::move(name->schema);
  rule.name = std::move(name->name);
  const auto same = [&](const table_rule& other) {
    return other.schema == rule.schema && other.name == rule.name;
  };
  if (std::any_of(target.begin(), target.end(), same)) {
    item.context().error(item.path_of("name"),
                         refusal(written, "this table has a rule already; it must have one only"));
    return;
  }
  target.push_back(std::move(rule));
}

void read_functions(const section_reader& gate, std::vector<std::string>& target) {
  const auto items = gate.items("functions", "function names");
  for (std::size_t index = 0; index < items.size(); ++index) {
    const std::string path = item_path(gate.path_of("functions"), index);
    const std::string* written = string_of(gate.context(), *items[index], path, name_allowed);
    if (written == nullptr) continue;
    const auto name = parse_qualified_name(*written);
    if (!name) {
      gate.context().error(path, refusal(*written, name.error().message));
      continue;
    }
    // The settings hold `schema.name` without quotes, which a dot inside a name would make ambiguous.
    if ((name->schema + name->name).find('.') != std::string::npos) {
      gate.context().error(path, refusal(*written, "a function name must not have a dot inside quotes"));
      continue;
    }
    std::string plain = name->schema.empty() ? name->name : name->schema + "." + name->name;
    if (std::find(target.begin(), target.end(), plain) != target.end()) {
      gate.context().error(path,
                           refusal(*written, "it is in this list already; each function must be named once"));
      continue;
    }
    target.push_back(std::move(plain));
  }
}

void read_catalog(const section_reader& catalog, catalog_settings& target) {
  catalog.choice("closure", target.closure, truth_names);
  catalog.duration("refresh", target.refresh, ranges::catalog_refresh);
  catalog.choice("on_error", target.on_error, catalog_on_error_names);
}

// A column of the control row, kept as written: it goes into SQL text.
std::optional<std::string> read_column(const section_reader& section, std::string_view key, null_value null) {
  const std::string written = section.text(key, column_allowed, null);
  if (written.empty()) return std::nullopt;
  const auto name = parse_identifier(written);
  if (name) return written;
  section.context().error(section.path_of(key), refusal(written, name.error().message));
  return std::nullopt;
}

} // namespace

section_reader gate_section(const section_reader& root) {
  return root.section("gate", {"mode", "database", "lock_key", "applier_lock_key", "pin_before_locks",
                               "tables", "functions", "catalog", "in_band_transitions"});
}

gate_keys read_gate_mode(const section_reader& gate, gate_settings& target) {
  gate.choice("mode", target.mode, gate_mode_names);
  return target.mode == gate_mode::off ? gate_keys::optional : gate_keys::required;
}

void read_gate(const section_reader& gate, gate_keys keys, gate_settings& target) {
  target.database = gate.text("database", "the name of a database");
  read_keys(gate, keys, target);
  read_pin_before_locks(gate, target.pin_before_locks);
  const auto tables = gate.items("tables", "mappings with the keys name, pin_on, columns");
  for (std::size_t index = 0; index < tables.size(); ++index) {
    read_table(
        {gate.context(), *tables[index], item_path("gate.tables", index), {"name", "pin_on", "columns"}},
        target.tables);
  }
  read_functions(gate, target.functions);
  read_catalog(gate.section("catalog", {"closure", "refresh", "on_error"}), target.catalog);
  gate.choice("in_band_transitions", target.in_band_transitions, in_band_policy_names);
}

std::string read_control(const section_reader& root, gate_keys keys, control_settings& target) {
  const auto section = root.section("control", {"dsn"});
  constexpr auto allowed = "a libpq connection string: key=value .. or postgresql://..";
  target.dsn = text_or_missing(section, "dsn", allowed, keys);
  if (target.dsn.empty()) return {};
  auto facts = parse_dsn(target.dsn);
  if (facts) return std::move(facts->database);
  // The value itself is not shown: it may hold a password.
  section.context().error(
      section.path_of("dsn"),
      std::string{"must be "}.append(allowed).append(" (").append(facts.error().message).append(")"));
  return {};
}

void read_control_row(const section_reader& root, gate_keys keys, control_row_settings& target) {
  const auto section = root.section("control_row", {"table", "where", "mode_column", "changed_at_column"});
  target.table = text_or_missing(section, "table", name_allowed, keys);
  if (!target.table.empty()) {
    const auto name = parse_qualified_name(target.table);
    if (!name) section.context().error(section.path_of("table"), refusal(target.table, name.error().message));
  }
  target.where = text_or_missing(section, "where", "an SQL condition that selects exactly one row", keys);
  if (auto column = read_column(section, "mode_column", null_value::is_error))
    target.mode_column = std::move(*column);
  target.changed_at_column = read_column(section, "changed_at_column", null_value::means_absent);
}

void read_modes(const section_reader& root, gate_keys keys, std::vector<std::string>& target) {
  constexpr auto allowed = "a list of two or more different mode names";
  const node* value = root.find("modes");
  if (value == nullptr) {
    if (keys == gate_keys::required)
      root.find_required("modes", std::string{allowed} + " (unless gate.mode is off)");
    return;
  }
  const auto items = root.items("modes", "two or more different mode names");
  for (std::size_t index = 0; index < items.size(); ++index) {
    const std::string path = item_path("modes", index);
    const std::string* name = string_of(root.context(), *items[index], path, "the name of a mode");
    if (name == nullptr) continue;
    if (std::find(target.begin(), target.end(), *name) != target.end()) {
      root.context().error(path, refusal(*name, "it is in this list already; each mode must be named once"));
    } else {
      target.push_back(*name);
    }
  }
  if (items.size() < 2 && !root.context().has_error("modes")) {
    root.context().error("modes", "has " + std::to_string(items.size()) +
                                      (items.size() == 1 ? " item" : " items") + "; must be " + allowed);
  }
}

} // namespace ledgergate::config
