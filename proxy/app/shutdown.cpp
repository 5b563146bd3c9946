#include "proxy/app/shutdown.hpp"

#include <algorithm>
#include <utility>

#include "proxy/observe/log.hpp"

namespace ledgergate::app {

namespace {

constexpr std::chrono::milliseconds poll_interval{20};
/// For sessions that are cut off: their statements are being cancelled on the server.
constexpr std::chrono::seconds end_patience{2};

} // namespace

shutdown::shutdown(boost::asio::io_context& context, const config::drain_settings& drain,
                   shutdown_steps steps)
    : timer_(context), drain_(drain), steps_(std::move(steps)) {}

void shutdown::request() {
  ++requests_;
  if (requests_ > 1) {
    observe::log(config::log_level::info, "asked again: ending the remaining sessions now");
    begin_drain();
    return end_sessions();
  }
  if (drain_.accept_for.count() == 0) return begin_drain();
  observe::log(config::log_level::info, "shutting down: clients are served for another " +
                                            std::to_string(drain_.accept_for.count()) + " ms");
  timer_.expires_after(drain_.accept_for);
  auto on_expiry = [this](const boost::system::error_code& ec) {
    if (!ec) begin_drain();
  };
  timer_.async_wait(std::move(on_expiry));
}

void shutdown::begin_drain() {
  if (std::exchange(draining_, true)) return;
  observe::log(config::log_level::info,
               "shutting down: " + std::to_string(steps_.connections()) + " connections to drain");
  deadline_ = std::chrono::steady_clock::now() + drain_.timeout;
  steps_.stop_listening();
  steps_.drain_sessions();
  steps_.stop_control([this] { control_stopped_ = true; });
  look();
}

void shutdown::end_sessions() {
  if (std::exchange(sessions_ended_, true)) return;
  steps_.end_sessions();
  deadline_ = std::chrono::steady_clock::now() + end_patience;
}

void shutdown::look() {
  if (finished_) return;
  const bool late = std::chrono::steady_clock::now() >= deadline_;
  if ((steps_.connections() == 0 && control_stopped_) || (late && sessions_ended_)) {
    finished_ = true;
    return steps_.finish();
  }
  if (late) {
    observe::log(config::log_level::warn, "drain.timeout is over: ending " +
                                              std::to_string(steps_.connections()) +
                                              " remaining connections");
    end_sessions();
  }
  look_again();
}

void shutdown::look_again() {
  timer_.expires_after(poll_interval);
  auto on_expiry = [this](const boost::system::error_code& ec) {
    if (!ec) look();
  };
  timer_.async_wait(std::move(on_expiry));
}

} // namespace ledgergate::app
