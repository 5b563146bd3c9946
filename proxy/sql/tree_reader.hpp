// From the parser's syntax tree (JSON, one object per statement) to facts.
#pragma once

#include <string_view>

#include <boost/json/value.hpp>

#include "proxy/sql/statement_facts.hpp"

namespace ledgergate::sql {

/// `statement` is the member `stmt` of a raw statement: an object with one member, named after the node.
/// A node that is not known is walked like a query: everything named in it counts as read (G7: fail closed).
/// `text` is the whole text that was parsed: locations in the tree are offsets into it.
statement_facts read_statement(const boost::json::value& statement, std::string_view text);

} // namespace ledgergate::sql
