#include "proxy/catalog/body_reader.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>

#include "proxy/sql/lexer.hpp"
#include "proxy/sql/parse.hpp"
#include "proxy/sql/touch_rules.hpp"

namespace ledgergate::catalog {

namespace {

using access = sql::closure_access;

bool is_word_byte(char c) { return sql::is_word_start(c) || sql::is_digit(c); }

/// The next byte that is neither blank nor a closing quote of the name itself.
char next_byte(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '"') ++at;
  while (at < text.size() && sql::is_blank(text[at]))
    ++at;
  return at < text.size() ? text[at] : '\0';
}

char previous_byte(std::string_view text, std::size_t at) {
  if (at > 0 && text[at - 1] == '"') --at;
  while (at > 0 && sql::is_blank(text[at - 1]))
    --at;
  return at > 0 ? text[at - 1] : '\0';
}

/// A comment may stand between a name and its parenthesis, or behind its dot.
bool looks_called(std::string_view text, std::size_t first, std::size_t last) {
  const char next = next_byte(text, last);
  const char previous = previous_byte(text, first);
  return next == '(' || next == '/' || next == '-' || previous == '.' || previous == '/';
}

template <typename Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (!is_word_byte(text[at])) {
      ++at;
      continue;
    }
    const std::size_t first = at;
    while (at < text.size() && is_word_byte(text[at]))
      ++at;
    visit(first, at);
  }
}

std::vector<body_word> words_of(std::string_view text) {
  std::vector<body_word> all;
  for_each_word(text, [&](std::size_t first, std::size_t last) {
    all.push_back({folded(text.substr(first, last - first)), looks_called(text, first, last)});
  });
  // Of equal words the called one comes first, and stays.
  std::sort(all.begin(), all.end(), [](const body_word& left, const body_word& right) {
    return left.text != right.text ? left.text < right.text : left.called > right.called;
  });
  const auto same = [](const body_word& left, const body_word& right) { return left.text == right.text; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

bool has_word(const std::vector<body_word>& words, std::string_view wanted) {
  const auto at =
      std::lower_bound(words.begin(), words.end(), wanted,
                       [](const body_word& word, std::string_view text) { return word.text < text; });
  return at != words.end() && at->text == wanted;
}

void read_possible_accesses(body_facts& facts) {
  const bool anything = facts.is_dynamic || !facts.is_readable;
  const auto has = [&](std::string_view word) { return anything || has_word(facts.words, word); };
  const auto allow = [&](access how, bool possible) {
    facts.may_do[static_cast<std::size_t>(how)] = possible;
  };
  allow(access::read, true);
  allow(access::insert, has("insert") || has("merge") || has("copy") || has("refresh"));
  allow(access::update, has("update") || has("merge"));
  allow(access::remove, has("delete") || has("merge"));
  allow(access::truncate, has("truncate"));
  allow(access::lock_for_writing, has("update") || has("lock"));
  allow(access::lock_for_reading, has("share") || has("lock"));
  allow(access::rewrite, has("alter") || has("create"));
  allow(access::rebuild, has("alter") || has("create") || has("vacuum") || has("analyze") || has("analyse") ||
                             has("cluster") || has("reindex"));
}

bool is_advisory_lock(std::string_view word) {
  return word.starts_with("pg_advisory_lock") || word.starts_with("pg_advisory_xact_lock") ||
         word.starts_with("pg_try_advisory_");
}

/// The number that stands at `at`, decimal or hexadecimal; nothing when something else does.
std::optional<std::int64_t> number_at(std::string_view text, std::size_t at) {
  while (at < text.size() && (sql::is_blank(text[at]) || text[at] == '('))
    ++at;
  const bool hexadecimal = text.substr(at, 2) == "0x" || text.substr(at, 2) == "0X";
  if (hexadecimal) at += 2;
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data() + at, text.data() + text.size(), value, hexadecimal ? 16 : 10);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

/// Fails closed: a key that is computed could be any.
bool words_take_listed_lock(std::string_view text, const std::vector<std::int32_t>& namespaces) {
  bool found = false;
  for_each_word(text, [&](std::size_t first, std::size_t last) {
    if (found || !is_advisory_lock(folded(text.substr(first, last - first)))) return;
    const std::optional<std::int64_t> key = number_at(text, last);
    found = !key || std::find(namespaces.begin(), namespaces.end(), *key) != namespaces.end();
  });
  return found;
}

/// Whether all of it could be read, and is what it seems: a function that runs a query given as text is not.
bool parse_statements(const function_row& function, body_facts& facts) {
  if (function.language != "sql") return false;
  sql::parse_result parsed = sql::parse(function.body);
  if (parsed.error != nullptr) return false;
  for (const sql::statement_facts& statement : parsed.statements) {
    const auto runs_text = [](const sql::function_call& call) { return sql::runs_query_text(call.name); };
    if (std::any_of(statement.functions.begin(), statement.functions.end(), runs_text)) return false;
  }
  facts.statements = std::move(parsed.statements);
  facts.is_parsed = true;
  return true;
}

} // namespace

std::string folded(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), sql::fold_ascii);
  return result;
}

bool is_one_word(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_word_byte);
}

body_facts read_body(const function_row& function, const std::vector<std::int32_t>& pin_before_locks) {
  body_facts facts;
  if (parse_statements(function, facts)) {
    sql::gated_names locks;
    locks.pin_before_locks = pin_before_locks;
    for (const sql::statement_facts& statement : facts.statements) {
      facts.defines = facts.defines || statement.is_definition;
      facts.rebuilds_unnamed = facts.rebuilds_unnamed || statement.rebuilds_unnamed;
      facts.takes_listed_lock =
          facts.takes_listed_lock || sql::judge(statement, locks).reason == sql::touch_reason::advisory_lock;
    }
    return facts;
  }
  facts.words = words_of(function.body);
  facts.is_readable = function.language == "sql" || function.language == "plpgsql";
  facts.is_dynamic = has_word(facts.words, "execute") || sql::contains_folded(function.body, "u&\"") ||
                     std::any_of(facts.words.begin(), facts.words.end(),
                                 [](const body_word& word) { return sql::runs_query_text(word.text); });
  read_possible_accesses(facts);
  const auto has_any = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](auto word) { return has_word(facts.words, word); });
  };
  facts.defines = has_any({"create", "alter", "drop", "grant", "revoke", "comment", "security", "import",
                           "reindex", "refresh", "reassign"});
  facts.rebuilds_unnamed = has_any({"analyze", "analyse", "vacuum", "cluster", "reindex"});
  facts.takes_listed_lock =
      !pin_before_locks.empty() && words_take_listed_lock(function.body, pin_before_locks);
  return facts;
}

} // namespace ledgergate::catalog
