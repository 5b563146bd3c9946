// A blocking connection to a PostgreSQL server whose bytes the test writes and reads itself.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ledgergate::test {

struct server_message {
  char tag = 0;
  std::string body;
};

class server_connection {
 public:
  using parameters = std::vector<std::pair<std::string, std::string>>;

  /// Connects over TCP and goes through a start-up without a password. Throws std::runtime_error, as all
  /// methods do, also when the server says nothing for ten seconds.
  server_connection(const std::string& host, int port, const parameters& startup);
  ~server_connection();
  server_connection(const server_connection&) = delete;
  server_connection& operator=(const server_connection&) = delete;

  void send(std::string_view bytes);
  server_message read();
  /// Whether the server ended the connection; waits for that or for the next message.
  bool at_end();
  /// Runs a simple query that must succeed and returns the first column of its rows.
  std::vector<std::string> run(std::string_view sql);

 private:
  bool fill();

  int fd_ = -1;
  std::string unread_;
};

} // namespace ledgergate::test
