#include "proxy/sql/lexer.hpp"

namespace ledgergate::sql {

namespace {

constexpr std::string_view operator_characters = "~!@#^&|`?+-*/%<>=";

bool is_operator(char c) { return c != '\0' && operator_characters.find(c) != std::string_view::npos; }

bool is_newline(char c) { return c == '\n' || c == '\r'; }

} // namespace

bool equals_folded(std::string_view word, std::string_view lower_case) {
  if (word.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (fold_ascii(word[i]) != lower_case[i]) return false;
  }
  return true;
}

token lexer::make(token_kind kind, std::size_t start, std::size_t stop) {
  position_ = stop;
  return {kind, text_.substr(start, stop - start), false};
}

bool lexer::skip_block_comment() {
  std::size_t depth = 1;
  position_ += 2;
  while (position_ < text_.size()) {
    if (text_[position_] == '*' && at(position_ + 1) == '/') {
      position_ += 2;
      if (--depth == 0) return true;
    } else if (text_[position_] == '/' && at(position_ + 1) == '*') {
      position_ += 2;
      ++depth;
    } else {
      ++position_;
    }
  }
  return false;
}

lexer::skip_result lexer::skip_blank() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (is_blank(c)) {
      ++position_;
    } else if (c == '-' && at(position_ + 1) == '-') {
      while (position_ < text_.size() && !is_newline(text_[position_]))
        ++position_;
    } else if (c == '/' && at(position_ + 1) == '*') {
      if (!skip_block_comment()) return skip_result::unterminated;
    } else {
      break;
    }
  }
  return skip_result::found;
}

// Behind the closing quote of a string: white space with a line break in it, then another quote, goes on with
// the same string and the same reading of backslashes. Line comments may stand in between, block comments may
// not.
bool lexer::continue_string() {
  std::size_t i = position_;
  bool line_break = false;
  while (i < text_.size()) {
    if (is_newline(text_[i])) {
      line_break = true;
      ++i;
    } else if (is_blank(text_[i])) {
      ++i;
    } else if (text_[i] == '-' && at(i + 1) == '-') {
      while (i < text_.size() && !is_newline(text_[i]))
        ++i;
    } else {
      break;
    }
  }
  if (!line_break || at(i) != '\'') return false;
  position_ = i + 1;
  return true;
}

token lexer::quoted(std::size_t start, std::size_t quote_at, bool escapes) {
  const char quote = text_[quote_at];
  bool backslash = false;
  position_ = quote_at + 1;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\\' && quote == '\'') {
      backslash = backslash || !escapes;
      position_ += escapes ? 2 : 1;
    } else if (c != quote) {
      ++position_;
    } else if (at(position_ + 1) == quote) {
      position_ += 2;
    } else {
      ++position_;
      if (quote == '\'' && continue_string()) continue;
      token found =
          make(quote == '\'' ? token_kind::string : token_kind::quoted_identifier, start, position_);
      found.has_backslash = backslash;
      return found;
    }
  }
  return make(token_kind::unterminated, start, text_.size());
}

token lexer::dollar(std::size_t start) {
  std::size_t i = start + 1;
  if (is_digit(at(i))) {
    while (is_digit(at(i)))
      ++i;
    return make(token_kind::parameter, start, i);
  }
  if (is_word_start(at(i))) {
    while (i < text_.size() && (is_word_start(text_[i]) || is_digit(text_[i])))
      ++i;
  }
  if (at(i) != '$') return make(token_kind::symbol, start, start + 1);
  const std::string_view delimiter = text_.substr(start, i + 1 - start);
  const std::size_t stop = text_.find(delimiter, i + 1);
  if (stop == std::string_view::npos) return make(token_kind::unterminated, start, text_.size());
  return make(token_kind::string, start, stop + delimiter.size());
}

token lexer::operation(std::size_t start) {
  std::size_t i = start;
  while (i < text_.size() && is_operator(text_[i])) {
    const bool comment = (text_[i] == '-' && at(i + 1) == '-') || (text_[i] == '/' && at(i + 1) == '*');
    if (comment) break;
    ++i;
  }
  // A run that ends in + or - is one operator only when it holds one of the characters that SQL's own
  // operators do not use: `+++` is three of them, `@+` is one.
  const std::string_view run = text_.substr(start, i - start);
  if (run.find_first_of("~!@#^&|`?%") == std::string_view::npos) {
    while (i - start > 1 && (text_[i - 1] == '+' || text_[i - 1] == '-'))
      --i;
  }
  return make(token_kind::operation, start, i);
}

token lexer::next() {
  if (skip_blank() == skip_result::unterminated)
    return make(token_kind::unterminated, text_.size(), text_.size());
  if (position_ >= text_.size()) return {};
  const std::size_t start = position_;
  const char c = text_[start];
  const char after = at(start + 1);
  if (c == '\'' || c == '"') return quoted(start, start, false);
  if (after == '\'' && (c == 'e' || c == 'E')) return quoted(start, start + 1, true);
  if (after == '\'' && (fold_ascii(c) == 'n' || fold_ascii(c) == 'b' || fold_ascii(c) == 'x')) {
    return quoted(start, start + 1, false);
  }
  if (fold_ascii(c) == 'u' && after == '&' && (at(start + 2) == '\'' || at(start + 2) == '"')) {
    token found = quoted(start, start + 2, false);
    found.has_backslash = false;
    return found;
  }
  if (is_word_start(c)) {
    std::size_t i = start + 1;
    while (i < text_.size() && is_word_part(text_[i]))
      ++i;
    return make(token_kind::word, start, i);
  }
  if (is_digit(c) || (c == '.' && is_digit(after))) {
    std::size_t i = start + 1;
    while (is_digit(at(i)) || (at(i) == '.' && at(i + 1) != '.'))
      ++i;
    return make(token_kind::number, start, i);
  }
  if (c == '$') return dollar(start);
  if (c == ':' && (after == ':' || after == '=')) return make(token_kind::operation, start, start + 2);
  if (is_operator(c)) return operation(start);
  return make(token_kind::symbol, start, start + 1);
}

} // namespace ledgergate::sql
