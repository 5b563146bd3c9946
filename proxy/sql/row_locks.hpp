// Which tables of a SELECT are row-locked by FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE, FOR KEY SHARE (manual:
// SELECT, "The Locking Clause").
#pragma once

#include <vector>

#include <boost/json/object.hpp>

#include "proxy/sql/statement_facts.hpp"

namespace ledgergate::sql {

struct locked_relation {
  const boost::json::object* relation; ///< the fields of a RangeVar in the tree that was given
  access_kind how;
};

/// `select`: the fields of a SelectStmt. The answer points into it.
std::vector<locked_relation> locked_relations(const boost::json::object& select);

} // namespace ledgergate::sql
