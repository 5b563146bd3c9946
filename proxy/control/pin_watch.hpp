// The second connection: reads who holds and wants the gate key, and the control row, while the first one
// waits in the gate's queue. Also carries what must not wait for the first one: cancelling its statement, and
// the control row for transactions at REPEATABLE READ. Reads the lock table at most twice a second (F28).
// Used on the main io_context's only thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/settings.hpp"
#include "proxy/control/control_connection.hpp"
#include "proxy/transition/pin_snapshot.hpp"
#include "proxy/transition/plan.hpp"
#include "proxy/transition/rows.hpp"

namespace ledgergate::control {

class pin_watch {
 public:
  enum class pace {
    idle,   ///< once a second, for status and metrics
    active, ///< twice a second, while a transition runs
  };
  /// The last reading of each kind. Queries in it are whole: what leaves this folder goes through visible()
  /// first.
  struct reading {
    std::optional<transition::pin_snapshot> pins;
    std::optional<transition::control_row> row;
    std::vector<transition::control_session> sidecars; ///< empty until the first reading
    std::string error;                                 ///< why the last reading failed; empty when it did not
  };
  /// The snapshot, or nothing and why.
  using pins_handler = std::function<void(const transition::pin_snapshot*, const std::string& error)>;
  using row_handler = std::function<void(const transition::control_row*, const std::string& error)>;
  /// What a plan is made of, or nothing and why.
  using plan_handler = std::function<void(const transition::plan_facts*, const std::string& error)>;
  /// Whether the server was told.
  using cancel_handler = std::function<void(bool told)>;

  pin_watch(boost::asio::io_context& io, std::shared_ptr<const config::settings> settings,
            control_connection::options options);
  ~pin_watch();
  pin_watch(const pin_watch&) = delete;
  pin_watch& operator=(const pin_watch&) = delete;

  void start();
  /// Outstanding handlers are called with an error.
  void stop();
  void reload(std::shared_ptr<const config::settings> settings);
  void set_pace(pace wanted);
  /// Told the audit table's entries after connecting and whenever the control row has changed.
  void on_history(std::function<void(std::vector<transition::transition_record>)> told) {
    history_told_ = std::move(told);
  }
  void on_observation(std::function<void(const transition::pin_snapshot&)> observer);

  bool connected() const { return connection_->ready(); }
  /// Why it is not connected, or the last error of a reading.
  const std::string& last_error() const;
  const reading& last() const { return reading_; }

  /// A reading at most half a second old.
  void pins(pins_handler handler);
  /// Asks now: the answer is no older than the call.
  void control_row(row_handler handler);
  void cancel_backend(std::int32_t pid, cancel_handler handler);
  void plan(plan_handler handler);
  /// Runs the engine's text against an idle holder; answers as transition::eviction::outcome.
  void evict(const std::string& text, std::function<void(std::string outcome)> handler);
  std::optional<std::int32_t> backend_pid() const;

 private:
  struct job {
    std::string text;
    control_connection::result_handler handler;
  };

  void add(job next, bool first = false);
  void run_next();
  void schedule(std::chrono::milliseconds at_least);
  void poll();
  void polled_pins(std::optional<transition::sql_result> result);
  void polled_row(std::optional<transition::sql_result> result);
  void polled_fleet(std::optional<transition::sql_result> result);
  void polled();
  void look_for_history();
  void fail_waiting(const std::string& why);
  std::chrono::milliseconds interval() const;

  std::shared_ptr<const config::settings> settings_;
  std::shared_ptr<control_connection> connection_;
  boost::asio::steady_timer timer_;
  std::deque<job> jobs_;
  std::vector<pins_handler> waiting_; ///< for the next reading
  std::function<void(const transition::pin_snapshot&)> observer_;
  std::function<void(std::vector<transition::transition_record>)> history_told_;
  std::optional<std::string> history_version_; ///< of the control row when the history was read last
  reading reading_;
  std::string connection_error_ = "not connected yet";
  std::optional<std::chrono::steady_clock::time_point> last_poll_;
  std::optional<std::chrono::steady_clock::time_point> last_fleet_poll_;
  pace pace_ = pace::idle;
  bool polling_ = false;
  bool started_ = false;
  /// A timer that fired may call back after this object is gone.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace ledgergate::control
