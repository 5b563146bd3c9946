// A blocking client of the throw-away server: a writer, an administrator, whoever the test needs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <libpq-fe.h>

namespace ledgergate::control {

/// Where the server is, as the test runner says in the environment.
struct test_server {
  static std::string port();
  /// A connection string over TCP.
  static std::string dsn(const std::string& user, const std::string& tcp_port = port());
};

class pg_client {
 public:
  explicit pg_client(const std::string& user = "app", const std::string& application = "writer");

  /// Runs a text and returns the first column of its first row; empty for NULL or no row. An error fails the
  /// test.
  std::string value(const std::string& sql);
  void run(const std::string& sql) { value(sql); }
  /// Runs a text that may fail and returns its SQLSTATE, empty for success.
  std::string sqlstate(const std::string& sql);

  /// Sends a text without waiting for its answer.
  void send(const std::string& sql);
  /// Whether the answer to send() is there.
  bool answered();
  /// Waits for it and returns its SQLSTATE.
  std::string answer();

  std::string pid() const { return std::to_string(PQbackendPID(connection_.get())); }
  /// NOTIFY payload, when one has come.
  std::optional<std::string> notification();

 private:
  struct finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, finish> connection_;
};

} // namespace ledgergate::control
