#include "tests/support/server_connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "protocol/backend_message.hpp"
#include "protocol/frontend_message.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"

namespace ledgergate::test {

namespace backend = protocol::backend;

namespace {

constexpr std::uint32_t protocol_3_0 = 196608;
constexpr time_t silence_limit_seconds = 10;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("server connection: " + what); }

int connect_to(const std::string& host, int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail("no socket");
  const timeval limit{silence_limit_seconds, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1 ||
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    fail("cannot connect to " + host + ":" + std::to_string(port) + ": " + std::strerror(errno));
  }
  return fd;
}

std::string startup_packet(const server_connection::parameters& startup) {
  std::string body;
  protocol::append_int32(body, protocol_3_0);
  for (const auto& [name, value] : startup)
    body += name + '\0' + value + '\0';
  body += '\0';
  std::string out;
  protocol::append_int32(out, static_cast<std::uint32_t>(body.size() + 4));
  return out + body;
}

} // namespace

server_connection::server_connection(const std::string& host, int port, const parameters& startup)
    : fd_(connect_to(host, port)) {
  send(startup_packet(startup));
  for (server_message answer = read(); answer.tag != backend::ready_for_query; answer = read()) {
    if (answer.tag == backend::error_response)
      fail("refused: " + std::string(protocol::error_field(answer.body, 'M')));
  }
}

server_connection::~server_connection() { ::close(fd_); }

void server_connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) fail(std::string("cannot send: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool server_connection::fill() {
  char buffer[65536];
  const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) fail("the server says nothing");
  if (got <= 0) return false;
  unread_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

bool server_connection::at_end() { return unread_.empty() && !fill(); }

server_message server_connection::read() {
  const auto total = [this] {
    return unread_.size() < protocol::header_bytes ? protocol::header_bytes
                                                   : 1 + protocol::load_int32(unread_.data() + 1);
  };
  while (unread_.size() < protocol::header_bytes || unread_.size() < total()) {
    if (!fill()) fail("the server closed the connection");
  }
  server_message out{unread_[0], unread_.substr(protocol::header_bytes, total() - protocol::header_bytes)};
  unread_.erase(0, total());
  return out;
}

std::vector<std::string> server_connection::run(std::string_view sql) {
  std::string query;
  protocol::append_query(query, sql);
  send(query);
  std::vector<std::string> rows;
  for (server_message answer = read(); answer.tag != backend::ready_for_query; answer = read()) {
    if (answer.tag == backend::error_response)
      fail(std::string(sql) + ": " + std::string(protocol::error_field(answer.body, 'M')));
    if (answer.tag == backend::data_row)
      rows.push_back(answer.body.substr(std::min<std::size_t>(6, answer.body.size())));
  }
  return rows;
}

} // namespace ledgergate::test
