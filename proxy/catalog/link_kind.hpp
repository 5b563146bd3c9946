// The kinds of links that the closure is made of, each of which can be taken away to see whether the tests
// would notice. The product keeps them all: only the canary binary of the tests leaves one out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ledgergate::catalog {

enum class link_kind : std::uint8_t {
  view,
  materialized_view,
  rule,
  partition,
  inheritance,
  trigger,
  trigger_condition,
  foreign_key,
  foreign_table,
  event_trigger,
  sql_body,      ///< of a function, read by the parser
  word_body,     ///< of a function, read by its words: PL/pgSQL
  standard_body, ///< of a function: BEGIN ATOMIC, RETURN
  procedure,     ///< the body of one, in whatever language
  aggregate,
  default_value,
  generated_column,
  check,
  index,
  statistics,
  policy,
  operation,
  operator_class,
  domain,   ///< its check
  type,     ///< what a type, or the definition of a table or function, is made of
  row_type, ///< the rows of a table as values
  cast,
  rebuild, ///< from a rewrite to a rebuild, and from one that names no table to every table
};
inline constexpr std::size_t link_kind_count = 28;

std::string_view to_string(link_kind);
/// Nothing for a name that is none.
std::optional<link_kind> link_named(std::string_view name);

class link_switch {
 public:
  bool keeps(link_kind kind) const { return (left_out_ >> static_cast<unsigned>(kind) & 1U) == 0; }
  void leave_out(link_kind kind) { left_out_ |= 1U << static_cast<unsigned>(kind); }

 private:
  std::uint32_t left_out_ = 0;
};

} // namespace ledgergate::catalog
