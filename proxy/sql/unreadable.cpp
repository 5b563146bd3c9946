#include "proxy/sql/unreadable.hpp"

#include "proxy/sql/lexer.hpp"
#include "proxy/sql/touch_rules.hpp"

namespace ledgergate::sql {

namespace {

constexpr mention_mask control_word = 1;
constexpr mention_mask call_word = 2;

const mention_scanner& statement_words() {
  static const mention_scanner words({{"begin", mention_bounds::whole_word, control_word},
                                      {"start", mention_bounds::whole_word, control_word},
                                      {"commit", mention_bounds::whole_word, control_word},
                                      {"end", mention_bounds::whole_word, control_word},
                                      {"rollback", mention_bounds::whole_word, control_word},
                                      {"abort", mention_bounds::whole_word, control_word},
                                      {"savepoint", mention_bounds::whole_word, control_word},
                                      {"release", mention_bounds::whole_word, control_word},
                                      {"prepare", mention_bounds::whole_word, control_word},
                                      {"call", mention_bounds::whole_word, call_word},
                                      {"do", mention_bounds::whole_word, call_word}});
  return words;
}

/// No semicolon but at the end: one statement, however its strings are read.
bool is_one_statement(std::string_view text) {
  const std::size_t found = text.find(';');
  if (found == std::string_view::npos) return true;
  for (const char c : text.substr(found)) {
    if (c != ';' && !is_blank(c)) return false;
  }
  return true;
}

} // namespace

text_verdict judge_unreadable(std::string_view text, mention_mask mentioned, const char* label) {
  text_verdict verdict;
  verdict.first = leading_control_statement(text);
  if (is_one_statement(text)) {
    lexer reader(text);
    const std::string_view word = reader.next().text;
    verdict.has_transaction_control =
        verdict.first != control_kind::none && verdict.first != control_kind::set_transaction;
    verdict.may_commit_inside = equals_folded(word, "call") || equals_folded(word, "do");
    const bool copies = equals_folded(word, "copy");
    if (!verdict.may_commit_inside && !verdict.has_transaction_control && !copies)
      verdict.shape = text_shape::other_single;
  } else {
    const mention_mask words = statement_words().find(text);
    verdict.has_transaction_control = (words & control_word) != 0;
    verdict.may_commit_inside = (words & call_word) != 0;
  }
  verdict.drops_session_locks =
      (mentioned & (mention::forget | mention::unlock | mention::do_block | mention::execute)) != 0;
  verdict.forgets_statements = (mentioned & mention::forget) != 0;
  verdict.reason = touch_reason::no_rule_matches;
  const bool defines = has_defining_word(text);
  verdict.defines_a_way = defines && (mentioned & (mention::can_touch | mention::definition)) != 0;
  if ((mentioned & mention::can_touch) == 0) return verdict;
  verdict.reason = touch_reason::unparsed;
  verdict.parse_error = label;
  verdict.name = label;
  const bool may_change_mode =
      (mentioned & mention::transition) != 0 ||
      ((mentioned & (mention::control_table | mention::hidden_name)) != 0 && has_writing_word(text));
  verdict.touch = may_change_mode ? touch_kind::transition : touch_kind::touch;
  return verdict;
}

} // namespace ledgergate::sql
