#include "config/describe.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "config/dsn.hpp"
#include "config/endpoint.hpp"
#include "config/identifier.hpp"
#include "config/names.hpp"
#include "config/units.hpp"

namespace ledgergate::config {
namespace {

// Every string is quoted: then none can be taken for a number, a boolean or nothing. YAML 1.2, section 5.7.
std::string quoted(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string shown = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      shown.append("\\").push_back(c);
    } else if (c == '\n') {
      shown += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      shown.append("\\x").push_back(hex[byte / 16]);
      shown.push_back(hex[byte % 16]);
    } else {
      shown.push_back(c);
    }
  }
  return shown.append("\"");
}

std::string shown_dsn(const std::string& dsn) {
  const auto facts = parse_dsn(dsn);
  return facts ? facts->redacted : "***";
}

class yaml_writer {
 public:
  explicit yaml_writer(const settings& value) : given_{value.given} {}

  void section(std::string_view name) {
    section_ = name;
    text_.append(name).append(":\n");
  }
  void leaf(std::string_view key, std::string_view written) {
    text_.append("  ").append(key).append(": ").append(written);
    mark(section_ + "." + std::string{key});
  }
  void top_leaf(std::string_view key, std::string_view written) {
    text_.append(key).append(": ").append(written);
    mark(key);
  }
  /// A line inside a list or a map that is a value as a whole.
  void line(std::string_view written) { text_.append(written).append("\n"); }
  /// An item's first or further key, marked by its own path.
  void item(std::string_view written, std::string_view path) {
    text_.append(written);
    mark(path);
  }
  std::string take() { return std::move(text_); }

 private:
  void mark(std::string_view path) { text_.append(given_.contains(path) ? "\n" : "  # default\n"); }

  const std::map<std::string, position, std::less<>>& given_;
  std::string section_;
  std::string text_;
};

std::string flow_list(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const auto& item : items)
    text.append(text.size() == 1 ? "" : ", ").append(item);
  return text.append("]");
}

std::vector<std::string> all_quoted(const std::vector<std::string>& items) {
  std::vector<std::string> shown;
  for (const auto& item : items)
    shown.push_back(quoted(item));
  return shown;
}

std::string quoted_or_null(const std::optional<std::string>& text) { return text ? quoted(*text) : "null"; }

std::string file_or_null(const std::string& path) { return path.empty() ? "null" : quoted(path); }

// One key of a `tls:` section, which stands deeper than leaf() writes.
class tls_writer {
 public:
  tls_writer(yaml_writer& out, std::string indent, std::string path)
      : out_{out}, indent_{std::move(indent)}, path_{std::move(path)} {
    out_.line(indent_ + "tls:");
  }
  void leaf(std::string_view key, std::string_view written) {
    out_.item(std::string{indent_}.append("  ").append(key).append(": ").append(written),
              std::string{path_}.append(".").append(key));
  }

 private:
  yaml_writer& out_;
  std::string indent_;
  std::string path_;
};

// Files are not shown as null where leaving them out is an error with the mode that is shown.
void write_server_tls(yaml_writer& out, const server_tls_settings& tls, const std::string& indent,
                      const std::string& path) {
  tls_writer writer{out, indent, path};
  writer.leaf("mode", to_string(tls.mode));
  if (!tls.cert.empty()) writer.leaf("cert", quoted(tls.cert));
  if (!tls.key.empty()) writer.leaf("key", quoted(tls.key));
  if (tls.mode == server_tls_mode::off) return;
  writer.leaf("client_ca", file_or_null(tls.client_ca));
  writer.leaf("client_crl", file_or_null(tls.client_crl));
  if (!tls.client_ca.empty()) writer.leaf("client_certificate", to_string(tls.client_certificate));
  writer.leaf("min_version", to_string(tls.min_version));
  writer.leaf("max_version", to_string(tls.max_version));
}

void write_upstream_tls(yaml_writer& out, const upstream_tls_settings& tls) {
  tls_writer writer{out, "  ", "upstream.tls"};
  writer.leaf("mode", to_string(tls.mode));
  if (tls.mode == upstream_tls_mode::off) return;
  writer.leaf("ca", file_or_null(tls.ca));
  writer.leaf("crl", file_or_null(tls.crl));
  writer.leaf("cert", file_or_null(tls.cert));
  writer.leaf("key", file_or_null(tls.key));
  writer.leaf("min_version", to_string(tls.min_version));
  writer.leaf("max_version", to_string(tls.max_version));
}

void write_listen(yaml_writer& out, const listen_settings& listen, const std::string& path) {
  out.line("  - address: " + quoted(to_string(listen.address)));
  if (listen.address.is_unix()) {
    out.item("    port: " + std::to_string(listen.address.port), path + ".port");
    return;
  }
  write_server_tls(out, listen.tls, "    ", path + ".tls");
  if (listen.tls.mode == server_tls_mode::off) return;
  out.item("      channel_binding: " + std::string{to_string(listen.tls.channel_binding)},
           path + ".tls.channel_binding");
}

void write_network(yaml_writer& out, const settings& value) {
  out.line("listen:");
  for (std::size_t index = 0; index < value.listen.size(); ++index)
    write_listen(out, value.listen[index], "listen[" + std::to_string(index) + "]");
  out.section("upstream");
  out.leaf("host", quoted(format_hosts(value.upstream.hosts)));
  if (!value.upstream.hosts.empty()) out.leaf("port", std::to_string(value.upstream.hosts.front().port));
  write_upstream_tls(out, value.upstream.tls);
  out.leaf("connect_timeout", format_duration(value.upstream.connect_timeout));
}

void write_tables(yaml_writer& out, const std::vector<table_rule>& tables) {
  if (tables.empty()) {
    out.leaf("tables", "[]");
    return;
  }
  out.line("  tables:");
  for (std::size_t index = 0; index < tables.size(); ++index) {
    const table_rule& rule = tables[index];
    out.line("    - name: " + quoted(quote_identifier(qualified_name{rule.schema, rule.name})));
    out.item("      pin_on: " + std::string{to_string(rule.on)},
             "gate.tables[" + std::to_string(index) + "].pin_on");
    if (rule.columns.empty()) continue;
    std::vector<std::string> columns;
    for (const auto& column : rule.columns)
      columns.push_back(quoted(quote_identifier(column)));
    out.line("      columns: " + flow_list(columns));
  }
}

// The settings hold `schema.name` without quotes; neither part has a dot in it.
std::string function_name(const std::string& plain) {
  const auto dot = plain.find('.');
  if (dot == std::string::npos) return quote_identifier(plain);
  return quote_identifier(qualified_name{plain.substr(0, dot), plain.substr(dot + 1)});
}

void write_gate(yaml_writer& out, const settings& value) {
  const gate_settings& gate = value.gate;
  out.section("gate");
  out.leaf("mode", to_string(gate.mode));
  if (!gate.database.empty()) out.leaf("database", quoted(gate.database));
  // With the gate off there may be no key, and no key is not the key 0.
  if (gate.mode != gate_mode::off || value.given.contains("gate.lock_key")) {
    out.leaf("lock_key", format_key(gate.lock_key));
  }
  out.leaf("applier_lock_key", gate.applier_lock_key ? format_key(*gate.applier_lock_key) : "null");
  std::vector<std::string> namespaces;
  for (const auto key : gate.pin_before_locks)
    namespaces.push_back(format_key(key));
  out.leaf("pin_before_locks", flow_list(namespaces));
  write_tables(out, gate.tables);
  std::vector<std::string> functions;
  for (const auto& function : gate.functions)
    functions.push_back(quoted(function_name(function)));
  out.leaf("functions", flow_list(functions));
  out.line("  catalog:");
  out.item("    closure: " + std::string(gate.catalog.closure ? "true" : "false"), "gate.catalog.closure");
  out.item("    refresh: " + format_duration(gate.catalog.refresh), "gate.catalog.refresh");
  out.item("    on_error: " + std::string{to_string(gate.catalog.on_error)}, "gate.catalog.on_error");
  out.leaf("in_band_transitions", to_string(gate.in_band_transitions));
}

void write_control_row(yaml_writer& out, const control_row_settings& row) {
  if (row.table.empty() && row.where.empty()) return;
  out.section("control_row");
  if (!row.table.empty()) out.leaf("table", quoted(row.table));
  if (!row.where.empty()) out.leaf("where", quoted(row.where));
  out.leaf("mode_column", quoted(row.mode_column));
  out.leaf("changed_at_column", quoted_or_null(row.changed_at_column));
}

void write_statements(yaml_writer& out, std::string_view key,
                      const std::map<std::string, std::vector<std::string>>& statements) {
  if (statements.empty()) {
    out.leaf(key, "{}");
    return;
  }
  out.line("  " + std::string{key} + ":");
  for (const auto& [mode, texts] : statements)
    out.line("    " + quoted(mode) + ": " + flow_list(all_quoted(texts)));
}

void write_transitions(yaml_writer& out, const transition_settings& transitions) {
  out.section("transitions");
  out.leaf("deadline", format_duration(transitions.deadline));
  out.leaf("queue_budget", format_duration(transitions.queue_budget));
  out.leaf("hold_budget", format_duration(transitions.hold_budget));
  out.leaf("applier_timeout", format_duration(transitions.applier_timeout));
  out.leaf("max_waiting_pins", std::to_string(transitions.max_waiting_pins));
  out.leaf("evict_idle_after",
           transitions.evict_idle_after ? format_duration(*transitions.evict_idle_after) : "off");
  write_statements(out, "guards", transitions.guards);
  write_statements(out, "steps", transitions.steps);
  out.leaf("notify", transitions.notify ? quoted(quote_identifier(*transitions.notify)) : "null");
}

void write_operation(yaml_writer& out, const settings& value) {
  out.section("admin");
  out.leaf("address", quoted(to_string(value.admin.address)));
  write_server_tls(out, value.admin.tls, "  ", "admin.tls");
  out.leaf("token_file", quoted_or_null(value.admin.token_file));
  out.leaf("viewer_token_file", quoted_or_null(value.admin.viewer_token_file));
  out.section("limits");
  out.leaf("max_clients", std::to_string(value.limits.max_clients));
  out.leaf("client_startup_timeout", format_duration(value.limits.client_startup_timeout));
  out.leaf("max_buffered_statement", format_size(value.limits.max_buffered_statement_bytes));
  out.leaf("threads", value.limits.threads ? std::to_string(*value.limits.threads) : "auto");
  out.section("drain");
  out.leaf("timeout", format_duration(value.drain.timeout));
  out.leaf("accept_for", format_duration(value.drain.accept_for));
  out.section("log");
  out.leaf("level", to_string(value.log.level));
  out.leaf("format", to_string(value.log.format));
  out.leaf("statements", to_string(value.log.statements));
}

} // namespace

std::string describe(const settings& value) {
  yaml_writer out{value};
  write_network(out, value);
  if (!value.control.dsn.empty()) {
    out.section("control");
    out.leaf("dsn", quoted(shown_dsn(value.control.dsn)));
  }
  write_gate(out, value);
  write_control_row(out, value.control_row);
  if (!value.modes.empty()) out.top_leaf("modes", flow_list(all_quoted(value.modes)));
  write_transitions(out, value.transitions);
  write_operation(out, value);
  return out.take();
}

} // namespace ledgergate::config
