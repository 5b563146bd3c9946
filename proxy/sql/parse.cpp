#include "proxy/sql/parse.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <pg_query.h>

#include "proxy/sql/complexity.hpp"
#include "proxy/sql/tree_node.hpp"
#include "proxy/sql/tree_reader.hpp"

namespace ledgergate::sql {

namespace {

/// JSON levels per level of the syntax tree, with a margin: {"Node": {"field": [{"Node": ..
constexpr std::size_t json_levels_per_tree_level = 6;

class parsed_text {
 public:
  explicit parsed_text(const std::string& text) : result_(pg_query_parse(text.c_str())) {}
  ~parsed_text() { pg_query_free_parse_result(result_); }
  parsed_text(const parsed_text&) = delete;
  parsed_text& operator=(const parsed_text&) = delete;

  bool failed() const { return result_.error != nullptr || result_.parse_tree == nullptr; }
  parse_result failure() const {
    parse_result result;
    result.error = "syntax";
    if (result_.error == nullptr) return result;
    result.message = result_.error->message == nullptr ? "" : result_.error->message;
    result.position = static_cast<std::size_t>(std::max(result_.error->cursorpos, 0));
    return result;
  }
  std::string_view tree() const { return result_.parse_tree; }

 private:
  PgQueryParseResult result_;
};

parse_result failure(const char* label) {
  parse_result result;
  result.error = label;
  return result;
}

/// A number that is absent is 0.
std::size_t number_of(const json::object& node, std::string_view key) {
  const json::value* found = node.if_contains(key);
  return found != nullptr && found->is_int64() ? static_cast<std::size_t>(found->get_int64()) : 0;
}

parse_result read_tree(std::string_view tree, std::string_view text) {
  // The tree lives as long as this call: one arena, and nothing to free node by node.
  unsigned char buffer[16 * 1024];
  json::monotonic_resource arena(buffer, sizeof buffer);
  json::parse_options options;
  options.max_depth = max_depth * json_levels_per_tree_level;
  options.allow_invalid_utf8 = true;
  json::error_code error;
  const json::value document =
      json::parse(json::string_view(tree.data(), tree.size()), error, &arena, options);
  if (error) return failure(error == json::error::too_deep ? "too_deep" : "syntax");
  const json::object* root = document.if_object();
  const json::array* statements = root != nullptr ? array_of(*root, "stmts") : nullptr;
  parse_result result;
  for (std::size_t i = 0; statements != nullptr && i < statements->size(); ++i) {
    const json::object* raw = (*statements)[i].if_object();
    const json::value* statement = raw != nullptr ? raw->if_contains("stmt") : nullptr;
    if (statement == nullptr) return failure("syntax");
    statement_facts& facts = result.statements.emplace_back(read_statement(*statement, text));
    facts.offset = number_of(*raw, "stmt_location");
    facts.size = number_of(*raw, "stmt_len");
  }
  return result;
}

} // namespace

parse_result parse(std::string_view text) {
  if (text.size() > max_parsed_text_bytes) return failure("too_long");
  if (text.find('\0') != std::string_view::npos) return failure("encoding");
  const complexity needed = measure(text);
  if (needed.depth > max_depth) return failure("too_deep");
  if (needed.expanded_bytes > max_expanded_bytes) return failure("too_long");
  const parsed_text parsed{std::string(text)};
  return parsed.failed() ? parsed.failure() : read_tree(parsed.tree(), text);
}

} // namespace ledgergate::sql
