#include "proxy/control/pg_result.hpp"

#include <algorithm>
#include <string>

namespace ledgergate::control {

namespace {

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string() : std::string(text);
}

} // namespace

transition::result_set read_set(const PGresult* result, int most) {
  transition::result_set set;
  set.command_tag = PQcmdStatus(const_cast<PGresult*>(result)); // libpq does not change it
  const int columns = PQnfields(result);
  set.column_count = static_cast<std::size_t>(columns);
  const int rows = std::min(PQntuples(result), most);
  set.rows.reserve(static_cast<std::size_t>(rows));
  for (int row = 0; row < rows; ++row) {
    transition::sql_row values(static_cast<std::size_t>(columns));
    for (int column = 0; column < columns; ++column) {
      if (PQgetisnull(result, row, column) != 0) continue;
      values[static_cast<std::size_t>(column)] = std::string(
          PQgetvalue(result, row, column), static_cast<std::size_t>(PQgetlength(result, row, column)));
    }
    set.rows.push_back(std::move(values));
  }
  return set;
}

transition::server_error read_error(const PGresult* result) {
  transition::server_error error{field(result, PG_DIAG_SQLSTATE), field(result, PG_DIAG_MESSAGE_PRIMARY),
                                 field(result, PG_DIAG_MESSAGE_DETAIL), field(result, PG_DIAG_MESSAGE_HINT)};
  // An error of libpq itself has no fields.
  if (error.message.empty()) error.message = PQresultErrorMessage(result);
  if (error.sqlstate.empty()) error.sqlstate = "08006";
  while (error.message.ends_with('\n'))
    error.message.pop_back();
  return error;
}

transition::transaction_status read_status(const PGconn* connection) {
  switch (PQtransactionStatus(connection)) {
  case PQTRANS_INTRANS: return transition::transaction_status::in_transaction;
  case PQTRANS_INERROR: return transition::transaction_status::in_error;
  case PQTRANS_IDLE:
  case PQTRANS_ACTIVE:
  case PQTRANS_UNKNOWN: break;
  }
  return transition::transaction_status::idle;
}

} // namespace ledgergate::control
