// What a statement gave back, as values in PostgreSQL's text format. Filled by the driver, read by the
// engine.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "proxy/transition/transition_record.hpp"

namespace ledgergate::transition {

/// One column of one row: absent for NULL.
using sql_value = std::optional<std::string>;
using sql_row = std::vector<sql_value>;

/// The result of one statement of a text.
struct result_set {
  std::string command_tag;      ///< `COMMIT`, `UPDATE 1`, ..
  std::size_t column_count = 0; ///< 0 for a statement that returns no rows by its nature, such as SET
  std::vector<sql_row> rows;
};

/// What the server's last ReadyForQuery said about the transaction.
enum class transaction_status {
  idle,
  in_transaction,
  in_error,
};

/// The result of one text sent through the simple protocol: a set per statement that succeeded, in order.
struct sql_result {
  std::vector<result_set> sets;
  std::optional<server_error> error; ///< the statement behind the last set failed with this
  transaction_status status = transaction_status::idle;
};

} // namespace ledgergate::transition
