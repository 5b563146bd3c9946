#include "tests/unit/config/sample.hpp"

#include <gtest/gtest.h>

namespace ledgergate::config::test {

const std::string sample = "listen:\n"                                          // 1
                           "  - address: 127.0.0.1:6432\n"                      // 2
                           "upstream:\n"                                        // 3
                           "  host: 127.0.0.1\n"                                // 4
                           "control:\n"                                         // 5
                           "  dsn: host=127.0.0.1 dbname=horde user=operator\n" // 6
                           "gate:\n"                                            // 7
                           "  lock_key: 0x4B55444D\n"                           // 8
                           "  tables:\n"                                        // 9
                           "    - name: kudos_ledger\n"                         // 10
                           "control_row:\n"                                     // 11
                           "  table: kudos_ledger_control\n"                    // 12
                           "  where: id = 1\n"                                  // 13
                           "modes: [shadow, ledger]\n";                         // 14

std::string with(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  const bool found_once = at != std::string::npos && text.find(from, at + 1) == std::string::npos;
  EXPECT_TRUE(found_once) << "the sample must hold this once: " << from;
  if (!found_once) return text;
  return text.replace(at, from.size(), to);
}

settings loaded(const std::string& text) {
  const auto result = load_text(text, "f.yaml");
  EXPECT_TRUE(result.has_value()) << to_string(result.error());
  return result.has_value() ? *result : settings{};
}

std::string errors_of(const std::string& text) {
  const auto result = load_text(text, "f.yaml");
  EXPECT_FALSE(result.has_value()) << "accepted: " << text;
  return result.has_value() ? std::string{} : to_string(result.error());
}

} // namespace ledgergate::config::test
