#include "proxy/sql/write_targets.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "proxy/sql/touch_rules.hpp"

namespace ledgergate::sql {

namespace {

std::string identifier_of(const token& word) {
  std::string name;
  if (word.kind == token_kind::word) {
    std::transform(word.text.begin(), word.text.end(), std::back_inserter(name), fold_ascii);
    return name;
  }
  for (std::size_t i = 1; i + 1 < word.text.size(); ++i) {
    name += word.text[i];
    if (word.text[i] == '"') ++i; // written twice
  }
  return name;
}

/// The tokens of one statement, up to its semicolon.
class statement_tokens {
 public:
  explicit statement_tokens(const std::vector<token>& tokens) : tokens_(tokens) {}

  void add_accesses(std::string_view name, target_accesses& all) const {
    bool named = false;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const token& each = tokens_[i];
      if (each.kind != token_kind::word && each.kind != token_kind::quoted_identifier) continue;
      if (identifier_of(each) != name) continue;
      named = true;
      add_target(i, all);
    }
    if (!named) return;
    all.truncate = all.truncate || has({"truncate"});
    all.insert = all.insert || has({"copy"}) || has({"refresh"});
    all.lock_for_writing =
        all.lock_for_writing || has({"lock"}) || has({"for", "update"}) || has({"for", "no", "key"});
    all.lock_for_reading = all.lock_for_reading || has({"for", "share"}) || has({"for", "key"});
    all.rewrite = all.rewrite || has({"alter"}) || has({"create"});
    all.rebuild = all.rebuild || all.rewrite || has({"vacuum"}) || has({"analyze"}) || has({"analyse"}) ||
                  has({"cluster"}) || has({"reindex"});
  }

 private:
  bool is(std::size_t index, std::string_view word) const {
    return index < tokens_.size() && tokens_[index].kind == token_kind::word &&
           equals_folded(tokens_[index].text, word);
  }

  bool has(std::initializer_list<std::string_view> words) const {
    for (std::size_t i = 0; i + words.size() <= tokens_.size(); ++i) {
      std::size_t at = i;
      if (std::all_of(words.begin(), words.end(), [&](std::string_view word) { return is(at++, word); }))
        return true;
    }
    return false;
  }

  /// What the words in front of the name at `at` say: INSERT INTO, UPDATE, DELETE FROM, MERGE INTO.
  void add_target(std::size_t at, target_accesses& all) const {
    while (at >= 2 && tokens_[at - 1].kind == token_kind::symbol && tokens_[at - 1].text == ".")
      at -= 2; // its schema
    if (at >= 1 && is(at - 1, "only")) --at;
    if (at >= 1 && is(at - 1, "update")) all.update = true;
    if (at < 2) return;
    if (is(at - 1, "into") && is(at - 2, "insert")) all.insert = true;
    if (is(at - 1, "from") && is(at - 2, "delete")) all.remove = true;
    if (is(at - 1, "into") && is(at - 2, "merge")) all.insert = all.update = all.remove = true;
    // INSERT .. ON CONFLICT DO UPDATE writes the same table twice over.
    if (all.insert && has({"do", "update"})) all.update = true;
  }

  const std::vector<token>& tokens_;
};

} // namespace

target_reader::target_reader(std::string_view body) {
  std::vector<token> statement;
  lexer reader(body);
  for (;;) {
    const token next = reader.next();
    const bool ends = next.kind == token_kind::end || (next.kind == token_kind::symbol && next.text == ";");
    const bool is_escaped = next.kind == token_kind::quoted_identifier && fold_ascii(next.text[0]) == 'u';
    is_trusted_ = next.kind != token_kind::unterminated && !is_escaped;
    if (!is_trusted_) return;
    if (next.kind == token_kind::string) strings_.push_back(next);
    if (!ends) {
      statement.push_back(next);
      continue;
    }
    statements_.push_back(std::move(statement));
    statement.clear();
    if (next.kind == token_kind::end) return;
  }
}

std::optional<target_accesses> target_reader::accesses_to(std::string_view name) const {
  const auto names_it = [&](const token& text) { return contains_folded(text.text, name); };
  if (!is_trusted_ || std::any_of(strings_.begin(), strings_.end(), names_it)) return std::nullopt;
  target_accesses all;
  for (const std::vector<token>& each : statements_)
    statement_tokens(each).add_accesses(name, all);
  return all;
}

std::optional<target_accesses> accesses_in(std::string_view body, std::string_view name) {
  return target_reader(body).accesses_to(name);
}

} // namespace ledgergate::sql
