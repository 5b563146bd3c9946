// The mention test against the naive search. Input: patterns, one per line (`w` or `x` first for a word or a
// word with an exclusion, anything else for a name), an empty line, the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proxy/sql/mention_scan.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/support/naive_mention.hpp"

using namespace ledgergate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<sql::mention_pattern> patterns;
  while (!rest.empty() && patterns.size() < 32) {
    const std::size_t stop = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, stop);
    rest.remove_prefix(std::min(stop + 1, rest.size()));
    if (line.size() < 2) break;
    sql::mention_pattern pattern{std::string(line.substr(1)), sql::mention_bounds::anywhere,
                                 sql::mention_mask{1} << patterns.size()};
    if (line.front() == 'w' || line.front() == 'x') pattern.bounds = sql::mention_bounds::whole_word;
    if (line.front() == 'x') pattern.unless_before = {"nothing", "ab"};
    patterns.push_back(pattern);
  }
  const sql::mention_scanner scanner(patterns);
  const sql::mention_mask expected = test::naive_find(patterns, rest);
  test::require(scanner.find(rest) == expected, "the fast search finds what the naive one finds");
  test::require(scanner.any(rest) == (expected != 0), "any() agrees with find()");
  return 0;
}
