// A data plane with one worker between a test's client and a stub server that the test plays itself, over
// real sockets.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/session/data_plane.hpp"
#include "tests/unit/net/sockets.hpp"

namespace ledgergate::test {

/// One end of a connection that the test holds: blocking, each call with the deadline.
class test_peer {
 public:
  test_peer() = default;
  explicit test_peer(net::unique_fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  void send(std::string_view bytes);
  /// Exactly so many bytes, or fewer when the stream ends before.
  std::string receive(std::size_t bytes);
  /// One whole message with its header; empty at the end of the stream.
  std::string receive_message();
  /// Up to a ReadyForQuery at the end of what has arrived, or the end of the stream.
  std::string receive_until_ready();
  /// Everything up to the end of the stream. A reset counts as the end.
  std::string receive_all();
  void shut_write();
  void close() { fd_.reset(); }
  /// Closes with a reset instead of a FIN.
  void reset();

 private:
  net::unique_fd fd_;
};

enum class transport { tcp, unix_socket };

struct DataPlane : testing::Test {
  DataPlane();
  ~DataPlane() override;

  /// Builds the data plane from `settings`; tests change those before.
  void start();
  test_peer connect(transport over = transport::tcp);
  /// The next connection to the stub server.
  test_peer accept();
  bool server_was_contacted() const { return readable(listening_.get(), 0ms); }
  /// Start-up with trust authentication, up to the client's ReadyForQuery.
  std::pair<test_peer, test_peer> establish(std::string_view database = "gated",
                                            transport over = transport::tcp);
  bool eventually(const std::function<bool()>& condition) const;
  std::size_t ended(session::session_result result) const { return registry->ended(result); }

  static constexpr std::string_view backend_key{"\0\0\0\x2a"
                                                "key!",
                                                8};

  config::settings settings;
  boost::asio::io_context io;
  std::unique_ptr<net::name_resolver> resolver;
  std::unique_ptr<session::session_registry> registry;
  session::cancel_directory cancels;
  session::session_log log;
  observe::metrics metrics;
  std::unique_ptr<session::services> services;
  std::unique_ptr<session::data_plane> plane;

 private:
  net::unique_fd listening_;
};

std::string message(char tag, std::string_view body);
std::string query(std::string_view text);
std::string startup_packet(std::string_view database, std::string_view more_parameters = {});
std::string cancel_packet(std::string_view key);
/// ReadyForQuery, with a CommandComplete in front for a whole answer.
std::string ready(char status);
std::string answer(char status);

} // namespace ledgergate::test
