// libpq's results as values.
#pragma once

#include <libpq-fe.h>

#include "proxy/transition/sql_result.hpp"

namespace ledgergate::control {

/// Rows beyond this number are left out, unless the connection says otherwise: nothing that is asked for has
/// so many, and a step may return a whole table.
inline constexpr int most_rows = 20000;

transition::result_set read_set(const PGresult* result, int most = most_rows);
transition::server_error read_error(const PGresult* result);
transition::transaction_status read_status(const PGconn* connection);

} // namespace ledgergate::control
