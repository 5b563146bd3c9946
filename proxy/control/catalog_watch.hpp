// Keeps the catalog closure current: reads the system catalogs at start, on an interval and when asked, over
// a connection of its own, so that a long reading keeps nobody waiting. First a fingerprint is read; only
// when it has changed, everything is, and the closure is worked out on a thread of its own. Used on the main
// io_context's only thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "config/settings.hpp"
#include "proxy/catalog/closure.hpp"
#include "proxy/control/catalog_result.hpp"
#include "proxy/control/control_connection.hpp"
#include "proxy/control/control_service.hpp"

namespace ledgergate::control {

class catalog_watch {
 public:
  /// Whether the closure that is in force is no older than the call.
  using refresh_handler = std::function<void(bool current)>;

  catalog_watch(boost::asio::io_context& io, std::shared_ptr<const config::settings> settings,
                control_connection::options options, catalog::link_switch kept);
  ~catalog_watch();
  catalog_watch(const catalog_watch&) = delete;
  catalog_watch& operator=(const catalog_watch&) = delete;

  void start();
  /// Outstanding handlers are called with false.
  void stop();
  /// Other names lead to another closure: it is read anew.
  void reload(std::shared_ptr<const config::settings> settings);

  /// Called with every new closure. The refresh handlers that it answers are called when it is in force.
  void on_report(control_service::catalog_observer observer) { observer_ = std::move(observer); }
  void refresh_now(refresh_handler handler);

  catalog_status status() const;

  /// Of its session, while that is up.
  std::optional<std::int32_t> backend_pid() const {
    const auto& facts = connection_->facts();
    return facts ? std::optional(facts->backend_pid) : std::nullopt;
  }

 private:
  bool enabled() const;
  void schedule();
  void begin_round();
  void read_all();
  void compute(catalog_reading reading);
  void publish(std::string fingerprint, std::shared_ptr<const catalog::catalog_report> report);
  void succeed();
  void fail(std::string why);
  void answer(bool current);

  boost::asio::io_context& io_;
  std::shared_ptr<const config::settings> settings_;
  const catalog::link_switch kept_;
  std::shared_ptr<control_connection> connection_;
  boost::asio::steady_timer timer_;
  control_service::catalog_observer observer_;
  std::vector<refresh_handler> waiting_;  ///< for the next round
  std::vector<refresh_handler> answered_; ///< by the round that runs
  bool started_ = false;
  bool running_ = false;
  bool again_ = false;      ///< asked for while a round ran
  std::uint64_t round_ = 0; ///< a round that was given up is recognised by it
  std::string fingerprint_;
  std::shared_ptr<const catalog::catalog_report> report_;
  std::uint64_t generation_ = 0;
  std::uint64_t failures_ = 0;
  std::optional<std::chrono::steady_clock::time_point> current_at_;
  std::optional<std::chrono::steady_clock::time_point> round_began_;
  std::string last_error_ = "the catalogs were not read yet";
  /// A callback that comes after this object is gone does nothing.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
  boost::asio::thread_pool worker_{1}; ///< last: ends first
};

} // namespace ledgergate::control
