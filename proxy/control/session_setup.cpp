#include "proxy/control/session_setup.hpp"

#include <charconv>

namespace ledgergate::control {

namespace {

template <typename Number>
Number number(const transition::sql_value& value, Number otherwise) {
  if (!value) return otherwise;
  Number out{};
  const auto [end, ec] = std::from_chars(value->data(), value->data() + value->size(), out);
  return ec == std::errc() ? out : otherwise;
}

} // namespace

std::string setup_text() {
  // F26: a proxy that was killed, or cut off, must not keep a place in the gate's queue nor the gate.
  // Timeouts that the role or database may bring along are replaced as well. What this server does not know
  // is left out.
  return "SELECT pg_catalog.set_config(v.name, v.setting, false) FROM (VALUES "
         "('client_connection_check_interval', '500'), "
         "('idle_in_transaction_session_timeout', '5000'), "
         "('statement_timeout', '5000'), "
         "('lock_timeout', '5000'), "
         "('idle_session_timeout', '0'), "
         "('transaction_timeout', '0'), "
         "('tcp_keepalives_idle', '5'), "
         "('tcp_keepalives_interval', '1'), "
         "('tcp_keepalives_count', '3'), "
         "('tcp_user_timeout', '5000')) AS v(name, setting) "
         "JOIN pg_catalog.pg_settings s ON s.name OPERATOR(pg_catalog.=) v.name; "
         "SELECT pg_catalog.pg_backend_pid(), pg_catalog.current_setting('server_version_num'), "
         "pg_catalog.current_database(), (SELECT s.reset_val FROM pg_catalog.pg_settings s "
         "WHERE s.name OPERATOR(pg_catalog.=) 'deadlock_timeout'), session_user";
}

std::string deadlock_timeout_text(int server_version) {
  const std::string condition =
      server_version >= 150000 ? "pg_catalog.has_parameter_privilege('deadlock_timeout', 'SET')"
                               : "pg_catalog.current_setting('is_superuser') OPERATOR(pg_catalog.=) 'on'";
  return "SELECT pg_catalog.set_config('deadlock_timeout', '50ms', false) WHERE " + condition;
}

boost::system::result<session_facts, setup_error> read_facts(const transition::sql_result& result,
                                                             const std::string& expected_database) {
  if (result.sets.size() != 2 || result.sets[1].rows.size() != 1 || result.sets[1].rows[0].size() != 5) {
    return setup_error{"the server's answer to the session's set-up was not understood"};
  }
  const auto& row = result.sets[1].rows[0];
  session_facts facts;
  facts.backend_pid = number<std::int32_t>(row[0], 0);
  facts.server_version = number<int>(row[1], 0);
  facts.database = row[2].value_or("");
  facts.deadlock_timeout = std::chrono::milliseconds(number<std::int64_t>(row[3], 1000));
  facts.user = row[4].value_or("");
  if (facts.server_version < oldest_server_version) {
    return setup_error{"the server is older than PostgreSQL 14, which is the oldest that can be gated"};
  }
  if (!expected_database.empty() && facts.database != expected_database) {
    return setup_error{"control.dsn leads to database " + facts.database + ", but gate.database is " +
                       expected_database + ": advisory locks are local to a database"};
  }
  return facts;
}

} // namespace ledgergate::control
