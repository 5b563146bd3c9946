// The mention test written in the most obvious way: what the fast one is compared with.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/sql/mention_scan.hpp"

namespace ledgergate::test {

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

inline bool is_word_byte(char c) {
  return static_cast<unsigned char>(c) >= 0x80 || c == '_' || (lower(c) >= 'a' && lower(c) <= 'z') ||
         (c >= '0' && c <= '9');
}

inline bool stands_alone(const std::string& text, std::size_t at, std::size_t size) {
  return (at == 0 || !is_word_byte(text[at - 1])) &&
         (at + size == text.size() || !is_word_byte(text[at + size]));
}

inline bool comes_before(const std::string& text, std::size_t from, const std::string& word) {
  const std::size_t next = text.find_first_not_of(" \t\n\r\f\v", from);
  return next != std::string::npos && text.compare(next, word.size(), word) == 0 &&
         (next + word.size() == text.size() || !is_word_byte(text[next + word.size()]));
}

inline sql::mention_mask naive_find(const std::vector<sql::mention_pattern>& patterns,
                                    std::string_view original) {
  const std::string text = lowered(original);
  sql::mention_mask found = 0;
  for (const sql::mention_pattern& pattern : patterns) {
    const std::string wanted = lowered(pattern.text);
    for (std::size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) {
      const std::size_t behind = at + wanted.size();
      if (pattern.bounds == sql::mention_bounds::whole_word && !stands_alone(text, at, wanted.size()))
        continue;
      const auto follows = [&](const std::string& word) { return comes_before(text, behind, word); };
      if (std::any_of(pattern.unless_before.begin(), pattern.unless_before.end(), follows)) continue;
      found |= pattern.bit;
    }
  }
  return found;
}

} // namespace ledgergate::test
