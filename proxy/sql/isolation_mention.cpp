#include "proxy/sql/isolation_mention.hpp"

#include "proxy/sql/lexer.hpp"

namespace ledgergate::sql {

isolation_mention isolation_of(std::string_view text) {
  if (single_control_statement(text) != control_kind::begin) return isolation_mention::doubt;
  lexer words(text);
  unsigned levels = 0;
  for (token word = words.next(); word.kind != token_kind::end; word = words.next()) {
    if (word.kind == token_kind::unterminated) return isolation_mention::doubt;
    if (word.kind != token_kind::word || !equals_folded(word.text, "level")) continue;
    ++levels;
    if (const token first = words.next(); !equals_folded(first.text, "read")) return isolation_mention::doubt;
    const token second = words.next();
    if (!equals_folded(second.text, "committed") && !equals_folded(second.text, "uncommitted"))
      return isolation_mention::doubt;
  }
  return levels == 1 ? isolation_mention::begins_low : isolation_mention::doubt;
}

} // namespace ledgergate::sql
