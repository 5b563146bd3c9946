// What keeps the parser safe: the bounds computed before parsing hold for the tree that the parser writes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <pg_query.h>

#include "proxy/sql/complexity.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/support/json_depth.hpp"

using namespace ledgergate;
using test::require;

namespace {

constexpr std::size_t longest_text = 4096;
constexpr std::size_t json_levels_per_level = 6;
constexpr std::size_t json_levels_of_one_statement = 16;
constexpr std::size_t json_bytes_per_byte = 200;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), std::min(size, longest_text));
  const sql::complexity measured = sql::measure(text);
  if (measured.expanded_bytes > sql::max_expanded_bytes) return 0;
  const PgQueryParseResult parsed = pg_query_parse(text.c_str());
  if (parsed.error == nullptr) {
    const std::string_view tree = parsed.parse_tree;
    // An embedded zero byte ends the text for the parser, not for the measure.
    if (measured.depth <= sql::max_depth) {
      require(test::json_depth(tree) <= json_levels_per_level * measured.depth + json_levels_of_one_statement,
              "the tree is not deeper than measured");
    }
    require(tree.size() <= json_bytes_per_byte * (measured.expanded_bytes + 10),
            "the tree is not larger than measured");
  }
  pg_query_free_parse_result(parsed);
  return 0;
}
