#include "proxy/sql/isolation_mention.hpp"

#include "proxy/sql/lexer.hpp"

namespace ledgergate::sql {

namespace {

/// DISCARD PLANS, SEQUENCES and TEMP leave the settings alone.
bool discards_no_settings(std::string_view text) {
  lexer words(text);
  const token first = words.next();
  const token second = words.next();
  const token third = words.next();
  return equals_folded(first.text, "discard") && !equals_folded(second.text, "all") &&
         (third.kind == token_kind::end || third.text == ";") && words.next().kind == token_kind::end;
}

bool sets_session(std::string_view text) {
  lexer words(text);
  return equals_folded(words.next().text, "set") && equals_folded(words.next().text, "session");
}

isolation_mention level_of_begin(std::string_view text) {
  lexer words(text);
  unsigned levels = 0;
  for (token word = words.next(); word.kind != token_kind::end; word = words.next()) {
    if (word.kind != token_kind::word || !equals_folded(word.text, "level")) continue;
    ++levels;
    if (const token first = words.next(); !equals_folded(first.text, "read"))
      return isolation_mention::transaction_doubt;
    const token second = words.next();
    if (!equals_folded(second.text, "committed") && !equals_folded(second.text, "uncommitted"))
      return isolation_mention::transaction_doubt;
  }
  return levels == 1 ? isolation_mention::begins_low : isolation_mention::transaction_doubt;
}

} // namespace

isolation_mention isolation_of(std::string_view text) {
  switch (single_control_statement(text)) {
  case control_kind::begin: return level_of_begin(text);
  case control_kind::set_transaction:
    return sets_session(text) ? isolation_mention::doubt : isolation_mention::transaction_doubt;
  case control_kind::none:
    return discards_no_settings(text) ? isolation_mention::none : isolation_mention::doubt;
  case control_kind::commit:
  case control_kind::rollback:
  case control_kind::commit_and_chain:
  case control_kind::rollback_and_chain:
  case control_kind::savepoint:
  case control_kind::release:
  case control_kind::rollback_to:
  case control_kind::prepare_transaction:
  case control_kind::other_two_phase: break;
  }
  return isolation_mention::doubt;
}

} // namespace ledgergate::sql
