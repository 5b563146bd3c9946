// What the classifier makes of a text, statement by statement, for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/sql/classifier.hpp"

namespace ledgergate::sql {

struct explained_statement {
  std::size_t offset = 0; ///< in bytes, of its first word
  std::size_t size = 0;
  touch_kind touch = touch_kind::none;
  touch_reason reason = touch_reason::not_mentioned;
  std::string name;   ///< what matched
  std::string schema; ///< as the statement wrote it; empty when it did not
  std::string access; ///< read, row_lock, insert, .., call; empty when the reason is no object
};

struct explained_text {
  text_verdict verdict;                        ///< exactly what the gate acts on
  std::vector<explained_statement> statements; ///< empty when it could not be read
  std::string parse_message;                   ///< why it could not be read, in the parser's words
  std::size_t parse_position = 0;              ///< in characters from 1, as the server reports it; 0: unknown
};

} // namespace ledgergate::sql
