#include "proxy/sql/complexity.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "proxy/sql/lexer.hpp"

namespace ledgergate::sql {

namespace {

enum class opener : char { none, bracket, case_word };

/// What stands between one pair of brackets (or CASE and END), or at the top.
struct level {
  opener opened_by = opener::none;
  bool may_be_targets =
      false; ///< a bracket behind SET or a comma: perhaps the column list of a multi-column assignment
  std::size_t commas = 0;
  std::size_t structure = 0; ///< JOIN, UNION, ..: they nest to the left across commas and conditions
  std::size_t chain = 0;     ///< tokens since the last comma, AND or OR: each may add a level of operators
  std::size_t longest_chain = 0;
  std::size_t deepest_child = 0;

  void end_chain() {
    longest_chain = std::max(longest_chain, chain);
    chain = 0;
  }
  std::size_t depth() const { return structure + std::max(longest_chain, chain) + deepest_child + 1; }
};

class complexity_meter {
 public:
  explicit complexity_meter(std::string_view text) : text_(text), lexer_(text) {}

  complexity run() {
    for (token t = lexer_.next(); t.kind != token_kind::end; t = lexer_.next()) {
      if (t.kind == token_kind::word) {
        on_word(t.text);
      } else if (t.kind == token_kind::symbol) {
        on_symbol(t);
      } else {
        on_other(t);
      }
      if (levels_.size() > max_depth) break;
    }
    end_statement(text_.size());
    return result_;
  }

 private:
  level& top() { return levels_.back(); }

  void open(opener by) {
    ++top().chain;
    level inner;
    inner.opened_by = by;
    inner.may_be_targets = by == opener::bracket && before_targets_;
    levels_.push_back(inner);
  }

  void close() {
    const level inner = top();
    levels_.pop_back();
    top().deepest_child = std::max(top().deepest_child, inner.depth());
    closed_targets_ = inner.may_be_targets ? inner.commas + 1 : 0;
  }

  void on_word(std::string_view word) {
    const bool set = equals_folded(word, "set");
    if (set) ++set_words_;
    if (equals_folded(word, "case")) {
      open(opener::case_word);
    } else if (equals_folded(word, "end") && top().opened_by == opener::case_word) {
      close();
    } else if (equals_folded(word, "and") || equals_folded(word, "or")) {
      top().end_chain();
    } else if (equals_folded(word, "join") || equals_folded(word, "union") || equals_folded(word, "except") ||
               equals_folded(word, "intersect")) {
      top().end_chain();
      ++top().structure;
    } else {
      ++top().chain;
    }
    before_targets_ = set;
    closed_targets_ = 0;
  }

  void on_symbol(const token& t) {
    const char c = t.text.front();
    closed_targets_ = 0;
    if (c == '(' || c == '[') {
      open(opener::bracket);
    } else if (c == ')' || c == ']') {
      while (top().opened_by == opener::case_word)
        close();
      if (levels_.size() > 1) close();
    } else if (c == ',') {
      top().end_chain();
      ++top().commas;
    } else if (c == ';' && levels_.size() == 1) {
      end_statement(static_cast<std::size_t>(t.text.data() - text_.data()));
    } else {
      ++top().chain;
    }
    before_targets_ = c == ',';
  }

  void on_other(const token& t) {
    if (t.text == "=") widest_assignment_ = std::max(widest_assignment_, closed_targets_);
    ++top().chain;
    before_targets_ = false;
    closed_targets_ = 0;
  }

  void end_statement(std::size_t stop) {
    while (levels_.size() > 1)
      close();
    result_.depth = std::max(result_.depth, top().depth());
    std::size_t expanded = stop - statement_start_;
    // A multi-column assignment inside the source of another one multiplies; there cannot be more than SET
    // words.
    for (std::size_t i = 0; widest_assignment_ > 1 && i < set_words_ && expanded <= max_expanded_bytes; ++i) {
      expanded *= widest_assignment_;
    }
    result_.expanded_bytes += std::min(expanded, max_expanded_bytes + 1);
    levels_.assign(1, level{});
    statement_start_ = stop;
    set_words_ = 0;
    widest_assignment_ = 0;
  }

  std::string_view text_;
  lexer lexer_;
  std::vector<level> levels_{1};
  bool before_targets_ = false;
  std::size_t closed_targets_ = 0; ///< columns in the bracket just closed, when it may be a column list
  std::size_t widest_assignment_ = 0;
  std::size_t set_words_ = 0;
  std::size_t statement_start_ = 0;
  complexity result_;
};

} // namespace

complexity measure(std::string_view text) { return complexity_meter(text).run(); }

} // namespace ledgergate::sql
