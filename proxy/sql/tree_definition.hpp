// What a definition runs at once: most of DDL only defines, but some of it evaluates expressions over the
// rows that are there. Source: PostgreSQL manual, part VI, the pages of the statements; the grammar's own
// names.
#pragma once

#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "proxy/sql/statement_facts.hpp"

namespace ledgergate::sql {

/// Views into the syntax tree.
struct executed_parts {
  struct relation {
    const boost::json::object* node = nullptr; ///< the fields of a RangeVar
    access_kind how = access_kind::rewrite;
    std::string_view column; ///< with update: the one that is assigned
  };
  std::vector<relation> relations;
  std::vector<const boost::json::value*> expressions; ///< everything inside is evaluated
  const boost::json::array* type = nullptr;           ///< the parts of its name: values of it are checked
  bool rebuilds_unnamed = false;                      ///< tables that the text does not name

  bool any() const {
    return !relations.empty() || !expressions.empty() || type != nullptr || rebuilds_unnamed;
  }
};

/// `node` is the statement's name in the grammar, `body` its fields. Nothing for what only defines.
executed_parts executed_by(std::string_view node, const boost::json::object& body);

/// The statement may open a way to a table without naming anything that leads there: it enables a trigger,
/// renames a schema, runs the script of an extension.
bool defines_unseen(std::string_view node, const boost::json::object& body);

} // namespace ledgergate::sql
