#include <algorithm>
#include <regex>
#include <string_view>

#include "tests/tidy/rules.hpp"

namespace ledgergate::tidy {

namespace {

constexpr std::string_view pure_folders[] = {"protocol", "proxy/sql", "proxy/catalog", "proxy/gate",
                                             "proxy/transition"};
constexpr std::string_view banned_in_pure_folders[] = {
    "asio", "openssl", "libpq", "spdlog", "::now(", "random_device", "std::thread", "std::mutex", "getenv"};
// These ask again and again, until a deadline, whether a condition holds; whoever has to wait does it through
// them.
constexpr std::string_view may_sleep[] = {"tests/support/waiting.py", "tests/bench/processes.py",
                                          "tests/bench/system_calls.py",
                                          "tests/unit/admin/running_server.hpp"};

struct banned_word {
  std::regex pattern;
  std::string text;
};

// The patterns are put together from pieces, so that this file does not break its own rules.
const std::vector<banned_word>& banned_anywhere() {
  static const std::vector<banned_word> words = {
      {std::regex(std::string("\\b(TO") + "DO|FIX" + "ME|X" + "XX)\\b"), "a note to self"},
      {std::regex(std::string("\\.\\./sha") + "red|/wo" + "rk/"), "a path outside of the project"},
  };
  return words;
}

const std::vector<banned_word>& banned_in_tests() {
  static const std::vector<banned_word> words = {
      {std::regex(std::string("\\bsleep") + "_(for|until)\\b|\\bu" + "sleep\\b|\\btime\\.sle" +
                  "ep\\b|\\basyncio\\.sle" + "ep\\b"),
       "a sleep: wait for a condition with a deadline"},
      {std::regex(std::string("GTEST") + "_SKIP|pytest\\.sk" + "ip|mark\\.sk" + "ip"),
       "a test that is skipped"},
  };
  return words;
}

void check(const source_file& file, const std::vector<banned_word>& words, findings& out) {
  for (std::size_t i = 0; i < file.lines.size(); ++i)
    for (const banned_word& word : words)
      if (std::regex_search(file.lines[i], word.pattern)) out.push_back({file.path, i + 1, word.text});
}

} // namespace

void check_pure_folders(const source_file& file, findings& out) {
  const bool pure =
      std::any_of(std::begin(pure_folders), std::end(pure_folders), [&](auto f) { return file.is_in(f); });
  if (!pure) return;
  for (std::size_t i = 0; i < file.code.size(); ++i)
    for (const std::string_view word : banned_in_pure_folders)
      if (file.code[i].find(word) != std::string::npos)
        out.push_back({file.path, i + 1, "`" + std::string(word) + "` in a pure folder"});
}

void check_words(const source_file& file, findings& out) { check(file, banned_anywhere(), out); }

void check_tests(const source_file& file, findings& out) {
  if (!file.is_in("tests") || file.path.ends_with(".md")) return;
  if (std::find(std::begin(may_sleep), std::end(may_sleep), file.path) != std::end(may_sleep)) return;
  check(file, banned_in_tests(), out);
}

// A full expression is taken from the end of the statement in front of it to its own. A brace in it outside
// of parentheses begins a block (`if (co_await ..) {`) unless it follows a name directly.
void check_co_await(const source_file& file, findings& out) {
  std::string text;
  for (const std::string& line : file.code)
    text += line + '\n';
  for (std::size_t at = text.find("co_await"); at != std::string::npos; at = text.find("co_await", at + 8)) {
    const std::size_t before = text.find_last_of(";{}", at);
    int depth = 0;
    for (std::size_t i = before == std::string::npos ? 0 : before + 1; i < text.size() && text[i] != ';';
         ++i) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')') --depth;
      if (text[i] != '{') continue;
      const bool temporary =
          depth > 0 || (i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0));
      if (temporary) {
        const auto line = static_cast<std::size_t>(
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        out.push_back(
            {file.path, line + 1, "a braced temporary or a lambda in a co_await expression: name it first"});
      }
      break;
    }
  }
}

} // namespace ledgergate::tidy
