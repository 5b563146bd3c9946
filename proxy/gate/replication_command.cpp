#include "proxy/gate/replication_command.hpp"

#include <algorithm>
#include <array>

namespace ledgergate::gate {

namespace {

constexpr std::array<std::string_view, 9> commands = {
    "IDENTIFY_SYSTEM",       "START_REPLICATION", "CREATE_REPLICATION_SLOT",
    "DROP_REPLICATION_SLOT", "BASE_BACKUP",       "TIMELINE_HISTORY",
    "READ_REPLICATION_SLOT", "UPLOAD_MANIFEST",   "ALTER_REPLICATION_SLOT"};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
bool is_word(char c) { return (upper(c) >= 'A' && upper(c) <= 'Z') || c == '_'; }

} // namespace

bool is_replication_command(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n\f\v");
  if (start == std::string_view::npos) return false;
  text.remove_prefix(start);
  const auto end = std::find_if_not(text.begin(), text.end(), is_word);
  const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  return std::any_of(commands.begin(), commands.end(), [&](std::string_view command) {
    return std::equal(command.begin(), command.end(), word.begin(), word.end(),
                      [](char a, char b) { return a == upper(b); });
  });
}

} // namespace ledgergate::gate
