// One libpq connection to the gated database that is kept up: connects without blocking, sets the session up,
// runs one text at a time, notices when it is lost, and connects again with a growing pause. Used on the main
// io_context's only thread. Lives in a shared_ptr; stop() ends it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <libpq-fe.h>

#include "proxy/control/connection_parameters.hpp"
#include "proxy/control/pg_result.hpp"
#include "proxy/control/session_setup.hpp"
#include "proxy/transition/sql_result.hpp"

namespace ledgergate::control {

class control_connection : public std::enable_shared_from_this<control_connection> {
 public:
  struct options {
    std::string dsn;
    std::string application_name;
    std::string database; ///< the one it must lead to; empty: whatever the dsn says
    bool shorten_deadlock_timeout = false;
    std::string purpose;                ///< for the log: `transitions`, `watch`, `catalog`
    int most_rows = control::most_rows; ///< of each set: further ones are left out
  };
  struct hooks {
    std::function<void(const session_facts&)> ready;
    /// Also for an attempt to connect that failed. It is connecting again already.
    std::function<void(const transition::server_error&)> lost;
  };
  /// Nothing when the connection was lost before the answer; then hooks::lost follows.
  using result_handler = std::function<void(std::optional<transition::sql_result>)>;

  control_connection(boost::asio::io_context& io, options how, hooks told);
  ~control_connection();
  control_connection(const control_connection&) = delete;
  control_connection& operator=(const control_connection&) = delete;

  void start();
  /// No hook and no handler is called any more.
  void stop();

  bool ready() const { return ready_; }
  bool busy() const { return handler_ != nullptr; }
  const std::optional<session_facts>& facts() const { return facts_; }

  /// Sends a text through the simple protocol. Only when ready() and not busy().
  void run(const std::string& text, result_handler handler);
  /// Closes the socket now; hooks::lost is called, then it connects again.
  void drop(const std::string& why);

 private:
  struct finish_connection {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  void connect();
  void look_up(std::size_t host);
  void begin_connect();
  void wait_connect(PostgresPollingStatusType next);
  void advance_connect();
  void connected();
  void set_up();
  void became_ready();

  void send(const std::string& text, result_handler handler);
  void flush();
  void wait_readable();
  void readable();
  void collect();
  void take(PGresult* result);
  void finish_text();
  bool remember_if_fatal(const PGresult* result);

  void lost(transition::server_error error);
  void close();
  void connect_later();
  static void on_notice(void* self, const PGresult* notice);

  /// A callback for Asio that is dropped when this connection was closed meanwhile.
  template <typename Function>
  auto guarded(Function function) {
    return [self = weak_from_this(), generation = generation_, function](const boost::system::error_code& ec,
                                                                         const auto&... rest) {
      const auto alive = self.lock();
      if (alive && alive->generation_ == generation) function(ec, rest...);
    };
  }

  boost::asio::io_context& io_;
  options options_;
  hooks hooks_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::steady_timer timer_; ///< while connecting: the limit; while down: the pause
  boost::asio::posix::stream_descriptor socket_;
  std::unique_ptr<PGconn, finish_connection> connection_;
  std::minstd_rand random_;

  std::optional<connection_parameters> parameters_;
  std::vector<std::vector<std::string>> addresses_;
  std::uint64_t generation_ = 0; ///< changes with every connect and close: old callbacks are recognised by it
  unsigned failure_count_ = 0;
  bool started_ = false;
  bool ready_ = false;
  bool writing_ = false;
  std::optional<session_facts> facts_;
  result_handler handler_;
  transition::sql_result result_;
  std::optional<transition::server_error> fatal_; ///< the server's last word before it closed the connection
};

} // namespace ledgergate::control
