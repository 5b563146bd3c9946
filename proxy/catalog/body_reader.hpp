// What the body of a function may do. A body in SQL that the parser reads is known exactly; any other is
// known by its words alone: whatever it names, strings and comments included, it may use, and what it may do
// to a table depends on which writing words stand anywhere in it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/catalog/graph.hpp"
#include "proxy/catalog/rows.hpp"
#include "proxy/sql/statement_facts.hpp"

namespace ledgergate::catalog {

/// A word of a body, ASCII case folded.
struct body_word {
  std::string text;
  bool called = false; ///< somewhere an opening parenthesis follows, or a dot precedes it
};

struct body_facts {
  bool is_parsed = false; ///< `statements` says it all; otherwise words and may_do
  std::vector<sql::statement_facts> statements;
  std::vector<body_word> words;                         ///< sorted, each once
  std::array<bool, sql::closure_access_count> may_do{}; ///< to a table that is named
  bool is_dynamic = false;                              ///< runs SQL that is put together at run time
  bool is_readable = true;        ///< false: a language whose bodies say nothing certain
  bool defines = false;           ///< may define something: an event trigger may fire
  bool rebuilds_unnamed = false;  ///< may gather statistics or build indexes of tables that it does not name
  bool takes_listed_lock = false; ///< an advisory lock of gate.pin_before_locks, or one that is computed
};

body_facts read_body(const function_row& function, const std::vector<std::int32_t>& pin_before_locks);

/// A name that is one word as read_body() cuts them: only such a name can be looked up among the words.
bool is_one_word(std::string_view name);
std::string folded(std::string_view text);

} // namespace ledgergate::catalog
