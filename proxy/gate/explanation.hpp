// What the gate would do with a text, for people: the classifier's verdict, and how the pin would travel in
// the usual situations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/gate/gate_rules.hpp"
#include "proxy/sql/explanation.hpp"

namespace ledgergate::gate {

/// How a pin travels: `none`, `inline`, `as_extended`, `envelope`, `refused` or `denied`.
struct pin_ways {
  std::string autocommit;     ///< a simple query, no transaction open
  std::string in_transaction; ///< a simple query in an open transaction
  std::string extended;       ///< Parse, Bind, Execute, no transaction open
  std::string hint;           ///< with `refused` or `denied`: what to do instead
};

struct explained_pin {
  sql::explained_statement statement;
  std::string text;
  pin_ways pin; ///< if the statement were sent by itself
};

struct explanation {
  sql::explained_text whole;
  pin_ways pin; ///< of the text as it is
  std::vector<explained_pin> statements;
};

explanation explain(std::string_view text, const gate_rules& rules);

} // namespace ledgergate::gate
