// Carries out what the transition engine wants: its texts on the first connection, its timers, its cancels
// through the watch connection, its answers to whoever asked. One transition at a time; keeps the history of
// this process. Used on the main io_context's only thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/settings.hpp"
#include "proxy/control/control_connection.hpp"
#include "proxy/control/pin_watch.hpp"
#include "proxy/transition/transition_engine.hpp"

namespace ledgergate::control {

class transition_driver {
 public:
  /// The engine's answer, and the record with `accepted` and `already_there`.
  using admission_handler =
      std::function<void(const transition::admission&, std::optional<transition::transition_record>)>;
  using observer = std::function<void(const transition::transition_record&)>;

  /// `watch` must outlive the driver.
  transition_driver(boost::asio::io_context& io, control_connection::options options, pin_watch& watch);
  ~transition_driver();
  transition_driver(const transition_driver&) = delete;
  transition_driver& operator=(const transition_driver&) = delete;

  void start();
  /// Cancels a transition that waits, lets one that holds the gate end, then calls `done`. One whose outcome
  /// is unknown is left so: the database may not come back for long.
  void stop(std::function<void()> done);

  /// A request that comes while another one is still being compared waits until that one is answered.
  void request(std::shared_ptr<const config::settings> settings, transition::transition_request request,
               admission_handler handler);
  bool cancel(const std::string& id, const std::string& why);

  std::optional<transition::transition_record> get(const std::string& id) const;
  std::vector<transition::transition_record> list() const;
  std::optional<transition::transition_record> current() const;
  void on_change(observer told) { observer_ = std::move(told); }

  bool connected() const { return connection_->ready(); }
  const std::optional<session_facts>& facts() const { return connection_->facts(); }
  const std::string& last_error() const { return last_error_; }

 private:
  struct pending_request {
    std::shared_ptr<const config::settings> settings;
    transition::transition_request request;
    admission_handler handler;
  };

  void merge(std::vector<transition::transition_record> entries);
  void run_next();
  void feed(transition::transition_event what);
  void carry_out(transition::transition_action& wanted);
  void cancel_statement();
  void evict(const transition::action::evict_idle& wanted);
  bool answer_from_history(const pending_request& asked) const;
  void arm(transition::time_point at);
  void admit(const transition::admission& answer);
  void publish();
  void finish();
  bool is_unknown() const;
  bool has_ended() const;
  void connection_ready(const session_facts& facts);
  transition::moment now();

  pin_watch& watch_;
  std::shared_ptr<control_connection> connection_;
  boost::asio::steady_timer timer_;
  std::uint64_t timer_number_ = 0; ///< of the timer armed last
  std::minstd_rand random_;
  std::string last_error_ = "not connected yet";

  std::unique_ptr<transition::transition_engine> engine_;
  std::deque<transition::transition_event> events_; ///< that came while one was being handled
  bool feeding_ = false;
  bool connection_wanted_ = false;
  admission_handler admission_handler_;
  std::optional<transition::transition_state> logged_state_;
  std::deque<pending_request> pending_;
  std::deque<transition::transition_record> history_; ///< newest first
  observer observer_;
  std::function<void()> stopped_;
  bool stopping_ = false;
  /// A timer that fired may call back after this object is gone.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace ledgergate::control
