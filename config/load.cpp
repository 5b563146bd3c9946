#include "config/load.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "config/sections.hpp"

namespace ledgergate::config {
namespace {

constexpr std::size_t file_bytes_max = std::size_t{1} << 20;

struct close_file {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::vector<load_error> whole_file_error(const std::string& path, std::string message) {
  return {load_error{path, {}, {}, std::move(message)}};
}

std::vector<load_error> unreadable(const std::string& path, int error) {
  return whole_file_error(path, std::string{"cannot be read: "} + std::strerror(error));
}

void read_sections(const section_reader& root, settings& value) {
  const auto gate = gate_section(root);
  const gate_keys keys = read_gate_mode(gate, value.gate);
  read_listen(root, value.listen);
  read_upstream(root, value.upstream);
  const std::string control_database = read_control(root, keys, value.control);
  read_gate(gate, keys, value.gate);
  if (value.gate.database.empty()) value.gate.database = control_database;
  read_control_row(root, keys, value.control_row);
  read_modes(root, keys, value.modes);
  read_transitions(root, value.transitions);
  read_admin(root, value.admin);
  read_limits(root, value.limits);
  read_drain(root, value.drain);
  read_log(root, value.log);
  check_across(root.context(), value);
}

} // namespace

load_result load_text(const std::string& text, const std::string& file_name) {
  const auto document = parse_document(text);
  if (!document) return std::vector{load_error{file_name, document.error().at, {}, document.error().message}};
  load_context context{file_name};
  const section_reader root{context,
                            *document,
                            "",
                            {"listen", "upstream", "control", "gate", "control_row", "modes", "transitions",
                             "admin", "limits", "drain", "log"}};
  settings value;
  read_sections(root, value);
  auto errors = context.take_errors();
  if (!errors.empty()) return errors;
  value.given = context.given_paths();
  return value;
}

load_result load_file(const std::string& path) {
  const std::unique_ptr<std::FILE, close_file> file{std::fopen(path.c_str(), "rbe")};
  if (!file) return unreadable(path, errno);
  std::string text(file_bytes_max + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable(path, errno);
  if (text.size() > file_bytes_max) return whole_file_error(path, "is too large; must be at most 1 MiB");
  return load_text(text, path);
}

load_error error_at_key(const settings& value, const std::string& file_name, std::string key,
                        std::string message) {
  std::string around = key;
  auto place = value.given.find(around);
  while (place == value.given.end() && !around.empty()) {
    const auto cut = around.find_last_of(".[");
    around.erase(cut == std::string::npos ? 0 : cut);
    place = value.given.find(around);
  }
  const position at = place == value.given.end() ? position{} : place->second;
  return load_error{file_name, at, std::move(key), std::move(message)};
}

std::string to_string(const load_error& error) {
  std::string text = error.file;
  if (error.at.line > 0) text += ":" + std::to_string(error.at.line) + ":" + std::to_string(error.at.column);
  text += ": ";
  if (!error.key.empty()) text += error.key + ": ";
  return text + error.message;
}

std::string to_string(const std::vector<load_error>& errors) {
  std::string text;
  for (const auto& error : errors)
    text += to_string(error) + "\n";
  return text;
}

} // namespace ledgergate::config
