// Bounds what the parser would need for a text, before it is called. The parser's grammar is bounded by
// itself, but writing its tree out recurses once per level (a + b + c + .. is as deep as it is long) and
// repeats the source of a multi-column assignment once per column, so that a short hostile text could exhaust
// the stack or the memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace ledgergate::sql {

struct complexity {
  std::size_t depth = 0;          ///< upper bound of the height of the syntax tree, in operators and brackets
  std::size_t expanded_bytes = 0; ///< upper bound of the text's size with repeated sources written out
};

/// The deepest tree the parser is given, in the measure above.
inline constexpr std::size_t max_depth = 2000;
/// The largest expansion the parser is given.
inline constexpr std::size_t max_expanded_bytes = 512 * 1024;

/// One pass over the tokens, no recursion.
complexity measure(std::string_view text);

} // namespace ledgergate::sql
