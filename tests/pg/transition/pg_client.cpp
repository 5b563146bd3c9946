#include "tests/pg/transition/pg_client.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace ledgergate::control {

namespace {

struct clear_result {
  void operator()(PGresult* result) const { PQclear(result); }
};
using result_ptr = std::unique_ptr<PGresult, clear_result>;

std::string state_of(const result_ptr& result) {
  const auto status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) return {};
  const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  return state == nullptr ? "08006" : state;
}

} // namespace

std::string test_server::port() {
  const char* port = std::getenv("LG_PG_PORT");
  if (port == nullptr) throw std::runtime_error("LG_PG_PORT is not set: run through pytest");
  return port;
}

std::string test_server::dsn(const std::string& user, const std::string& tcp_port) {
  return "host=127.0.0.1 dbname=horde user=" + user + " port=" + tcp_port;
}

pg_client::pg_client(const std::string& user, const std::string& application)
    : connection_(PQconnectdb((test_server::dsn(user) + " application_name=" + application).c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    throw std::runtime_error(PQerrorMessage(connection_.get()));
}

std::string pg_client::value(const std::string& sql) {
  const result_ptr result(PQexec(connection_.get(), sql.c_str()));
  EXPECT_EQ(state_of(result), "") << sql << "\n" << PQresultErrorMessage(result.get());
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

std::string pg_client::sqlstate(const std::string& sql) {
  return state_of(result_ptr(PQexec(connection_.get(), sql.c_str())));
}

void pg_client::send(const std::string& sql) {
  ASSERT_EQ(PQsendQuery(connection_.get(), sql.c_str()), 1) << sql;
}

bool pg_client::answered() {
  PQconsumeInput(connection_.get());
  return PQisBusy(connection_.get()) == 0;
}

std::string pg_client::answer() {
  std::string state;
  while (const auto result = result_ptr(PQgetResult(connection_.get()))) {
    if (const auto found = state_of(result); !found.empty()) state = found;
  }
  return state;
}

std::optional<std::string> pg_client::notification() {
  PQconsumeInput(connection_.get());
  PGnotify* found = PQnotifies(connection_.get());
  if (found == nullptr) return std::nullopt;
  std::string payload = found->extra;
  PQfreemem(found);
  return payload;
}

} // namespace ledgergate::control
