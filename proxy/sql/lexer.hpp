// Cuts a text into the tokens PostgreSQL's scanner would see (manual, section 4.1 "Lexical Structure"), for
// questions that do not need the grammar: what the first statement is, how deep the nesting goes. Values are
// never decoded. Assumes standard_conforming_strings = on; who needs the other reading looks at
// token::has_backslash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ledgergate::sql {

enum class token_kind : std::uint8_t {
  end,               ///< nothing is left
  word,              ///< keyword or unquoted identifier
  quoted_identifier, ///< "..", U&".."
  string,            ///< '..', E'..', U&'..', N'..', B'..', X'..', dollar quotes
  number,            ///< 1, 1.5, .5e3
  parameter,         ///< $1
  symbol,            ///< one of ( ) [ ] , ; : . or a byte with no meaning
  operation,         ///< a run of operator characters, also :: := ..
  unterminated,      ///< a quote or comment that never ends; everything behind it is lost
};

struct token {
  token_kind kind = token_kind::end;
  std::string_view text; ///< as written, quotes included
  bool has_backslash =
      false; ///< a string without E that holds a backslash: read differently when the setting is off
};

class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) {}

  /// The next token; comments and white space are skipped (block comments nest).
  token next();

 private:
  enum class skip_result : std::uint8_t { found, unterminated };
  skip_result skip_blank();
  bool skip_block_comment();
  token quoted(std::size_t start, std::size_t quote_at, bool escapes);
  bool continue_string();
  token dollar(std::size_t start);
  token operation(std::size_t start);
  token make(token_kind kind, std::size_t start, std::size_t stop);
  char at(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }

  std::string_view text_;
  std::size_t position_ = 0;
};

/// Compares a word with a lower-case keyword, folding ASCII only.
bool equals_folded(std::string_view word, std::string_view lower_case);

constexpr char fold_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
constexpr bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word_part(char c) { return is_word_start(c) || is_digit(c) || c == '$'; }
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

} // namespace ledgergate::sql
