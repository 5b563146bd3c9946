#include <algorithm>
#include <string_view>

#include "tests/tidy/rules.hpp"

namespace ledgergate::tidy {

namespace {

constexpr std::size_t max_file_lines = 500;
constexpr std::size_t max_function_lines = 80;
// A test's table of cases stands in its function.
constexpr std::size_t max_test_function_lines = 160;
constexpr std::size_t max_line_columns = 120;

bool has_any_ending(std::string_view path, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](auto ending) { return path.ends_with(ending); });
}

/// Code points: a continuation byte of UTF-8 takes no column.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

/// Whether what stands in front of a brace makes it the body of a function. Good enough: a brace behind
/// something with parentheses that is not one of the words that open a scope of another kind.
bool opens_function(std::string_view head) {
  head = trimmed(head);
  if (head.starts_with("template")) head = trimmed(head.substr(std::min(head.size(), head.find('>') + 1)));
  for (const std::string_view word : {"namespace", "class ", "struct ", "enum ", "union ", "extern "})
    if (head.starts_with(word)) return false;
  return head.find('(') != std::string_view::npos;
}

std::size_t function_limit(const source_file& file) {
  return file.is_in("tests") ? max_test_function_lines : max_function_lines;
}

void check_cpp_functions(const source_file& file, findings& out) {
  std::vector<std::size_t> scopes; // for each open brace: the line of a function's body, or 0
  bool inside = false;
  std::string head;
  for (std::size_t i = 0; i < file.code.size(); ++i) {
    if (file.code[i].starts_with("#")) continue;
    for (const char c : file.code[i] + "\n") {
      if (c == '{') {
        const bool function = !inside && opens_function(head);
        scopes.push_back(function ? i + 1 : 0);
        inside = inside || function;
      } else if (c == '}' && !scopes.empty()) {
        const std::size_t begin = scopes.back();
        scopes.pop_back();
        if (begin != 0) inside = false;
        if (begin != 0 && i + 1 - begin > function_limit(file))
          out.push_back({file.path, begin, "a function of " + std::to_string(i + 1 - begin) + " lines"});
      }
      if (c == '{' || c == '}' || c == ';')
        head.clear();
      else
        head += c;
    }
  }
}

std::size_t indentation(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

void check_python_functions(const source_file& file, findings& out) {
  for (std::size_t begin = 0; begin < file.lines.size(); ++begin) {
    const std::string_view head = trimmed(file.lines[begin]);
    if (!head.starts_with("def ") && !head.starts_with("async def ")) continue;
    const std::size_t indent = indentation(file.lines[begin]);
    std::size_t last = begin;
    for (std::size_t i = begin + 1; i < file.lines.size(); ++i) {
      if (trimmed(file.lines[i]).empty()) continue;
      if (indentation(file.lines[i]) <= indent && file.lines[i][indent] != ')') break;
      last = i;
    }
    if (last - begin > function_limit(file))
      out.push_back({file.path, begin + 1, "a function of " + std::to_string(last - begin) + " lines"});
  }
}

} // namespace

void check_sizes(const source_file& file, findings& out) {
  const bool is_prose = has_any_ending(file.path, {".md", ".txt"}) && !file.path.ends_with("CMakeLists.txt");
  if (is_prose) return;
  if (file.lines.size() > max_file_lines)
    out.push_back({file.path, max_file_lines, "a file of " + std::to_string(file.lines.size()) + " lines"});
  // A message of a conversation is one line, however long it is.
  for (std::size_t i = 0; i < file.lines.size() && !file.path.ends_with(".conv"); ++i)
    if (columns(file.lines[i]) > max_line_columns)
      out.push_back({file.path, i + 1, "a line of " + std::to_string(columns(file.lines[i])) + " columns"});
  if (file.is_cpp()) check_cpp_functions(file, out);
  if (file.path.ends_with(".py")) check_python_functions(file, out);
}

} // namespace ledgergate::tidy
