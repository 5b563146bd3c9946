#include "proxy/observe/redaction.hpp"

#include <cstddef>

namespace ledgergate::observe {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

/// Walks a statement once; each take_* moves past one construct.
class redactor {
 public:
  explicit redactor(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size())
      step();
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = peek();
    if (is_space(c)) return take_blank(1);
    if (c == '-' && peek(1) == '-') return take_line_comment();
    if (c == '/' && peek(1) == '*') return take_block_comment();
    if (c == '\'') return take_quoted(false);
    if (c == '"') return take_identifier();
    if (c == '$' && take_dollar_quoted()) return;
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return take_number();
    if (is_word(c)) return take_word();
    out_.push_back(c);
    ++at_;
  }

  void take_blank(std::size_t bytes) {
    at_ += bytes;
    if (!out_.empty() && out_.back() != ' ') out_.push_back(' ');
  }

  void take_line_comment() {
    const std::size_t end = text_.find('\n', at_);
    take_blank((end == std::string_view::npos ? text_.size() : end) - at_);
  }

  void take_block_comment() {
    std::size_t depth = 0;
    std::size_t at = at_;
    do {
      if (text_.substr(at, 2) == "/*") {
        ++depth;
        at += 2;
      } else if (text_.substr(at, 2) == "*/") {
        --depth;
        at += 2;
      } else {
        ++at;
      }
    } while (depth > 0 && at < text_.size());
    take_blank(at - at_);
  }

  /// A backslash in a plain constant ends it or does not, depending on standard_conforming_strings: in doubt
  /// the rest of the statement is left out.
  void take_quoted(bool escapes) {
    ++at_;
    while (at_ < text_.size()) {
      if (peek() == '\\') {
        at_ = escapes ? at_ + 2 : text_.size();
      } else if (peek() != '\'') {
        ++at_;
      } else if (peek(1) == '\'') {
        at_ += 2;
      } else {
        break;
      }
    }
    at_ = at_ < text_.size() ? at_ + 1 : text_.size();
    out_.push_back('?');
  }

  void take_identifier() {
    const std::size_t end = text_.find('"', at_ + 1);
    const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 1;
    out_.append(text_.substr(at_, stop - at_));
    at_ = stop;
  }

  bool take_dollar_quoted() {
    std::size_t tag_end = at_ + 1;
    while (tag_end < text_.size() && is_word(text_[tag_end]) && text_[tag_end] != '$')
      ++tag_end;
    const bool is_parameter = tag_end > at_ + 1 && is_digit(text_[at_ + 1]);
    if (is_parameter || tag_end >= text_.size() || text_[tag_end] != '$') return false;
    const std::string_view tag = text_.substr(at_, tag_end + 1 - at_);
    const std::size_t end = text_.find(tag, tag_end + 1);
    at_ = end == std::string_view::npos ? text_.size() : end + tag.size();
    out_.push_back('?');
    return true;
  }

  void take_number() {
    while (is_word(peek()) || peek() == '.' ||
           ((peek() == '+' || peek() == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
      ++at_;
    }
    out_.push_back('?');
  }

  void take_word() {
    const std::size_t began = at_;
    // A parameter reference ($1) shows nothing; it is read as a word.
    while (is_word(peek()))
      ++at_;
    const std::string_view word = text_.substr(began, at_ - began);
    if (peek() == '\'' && word.size() == 1 &&
        std::string_view("eEbBxXnN").find(word[0]) != std::string_view::npos) {
      return take_quoted(word[0] == 'e' || word[0] == 'E');
    }
    out_.append(word);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

} // namespace

std::string redact_statement(std::string_view statement, config::log_statements how) {
  switch (how) {
  case config::log_statements::full: return std::string(statement);
  case config::log_statements::none: return {};
  case config::log_statements::redacted: break;
  }
  return redactor(statement).run();
}

} // namespace ledgergate::observe
