// Transaction control in the parser's syntax tree.
#pragma once

#include <boost/json/object.hpp>

#include "proxy/sql/classifier.hpp"

namespace ledgergate::sql {

/// `node`: the fields of a TransactionStmt.
control_kind control_of_transaction(const boost::json::object& node);

/// `node`: the fields of a VariableSetStmt. set_transaction for SET TRANSACTION, SET SESSION CHARACTERISTICS
/// and the settings behind them, else none.
control_kind control_of_setting(const boost::json::object& node);

} // namespace ledgergate::sql
