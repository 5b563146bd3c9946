// What the rules say about one statement.
#pragma once

#include <string>
#include <utility>

#include "proxy/sql/classifier.hpp"

namespace ledgergate::sql {

struct judgement {
  touch_kind touch = touch_kind::none;
  touch_reason reason = touch_reason::no_rule_matches;
  std::string name;        ///< what matched
  std::string schema = {}; ///< as the statement wrote it, or empty
  const char* access = ""; ///< static: what is done to it

  /// Keeps the stronger of the two; the first of equals.
  void merge(judgement other) {
    if (other.touch > touch) *this = std::move(other);
  }
};

} // namespace ledgergate::sql
