#include "proxy/control/pin_watch.hpp"

#include <algorithm>
#include <utility>

#include "proxy/transition/history.hpp"
#include "proxy/transition/statements.hpp"

namespace ledgergate::control {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using transition::sql_result;

constexpr std::chrono::milliseconds active_interval = 500ms;
constexpr std::chrono::milliseconds idle_interval = 1000ms;
/// Sidecars come and go with deployments.
constexpr std::chrono::milliseconds fleet_interval = 5000ms;

const std::string connection_was_lost = "the watch connection was lost";

const transition::result_set* first_set(const std::optional<sql_result>& result) {
  return result && !result->error && !result->sets.empty() ? &result->sets.front() : nullptr;
}

std::string why_not(const std::optional<sql_result>& result) {
  if (!result) return connection_was_lost;
  return result->error ? result->error->message + " (" + result->error->sqlstate + ")"
                       : std::string("the server's answer was not understood");
}

} // namespace

pin_watch::pin_watch(boost::asio::io_context& io, std::shared_ptr<const config::settings> settings,
                     control_connection::options options)
    : settings_(std::move(settings)), timer_(io) {
  control_connection::hooks hooks;
  hooks.ready = [this](const session_facts&) {
    connection_error_.clear();
    schedule(0ms);
    run_next();
  };
  hooks.lost = [this](const transition::server_error& error) {
    connection_error_ = error.message;
    polling_ = false;
    history_version_.reset();
    auto jobs = std::exchange(jobs_, {});
    for (auto& entry : jobs)
      entry.handler(std::nullopt);
    fail_waiting(error.message);
  };
  connection_ = std::make_shared<control_connection>(io, std::move(options), std::move(hooks));
}

pin_watch::~pin_watch() { connection_->stop(); }

void pin_watch::start() {
  started_ = true;
  connection_->start();
}

void pin_watch::stop() {
  started_ = false;
  timer_.cancel();
  connection_->drop("the sidecar is shutting down"); // answers the job that runs
  connection_->stop();
  auto jobs = std::exchange(jobs_, {});
  for (auto& entry : jobs)
    entry.handler(std::nullopt);
  fail_waiting("the sidecar is shutting down");
}

void pin_watch::reload(std::shared_ptr<const config::settings> settings) { settings_ = std::move(settings); }

const std::string& pin_watch::last_error() const {
  return connection_error_.empty() ? reading_.error : connection_error_;
}

void pin_watch::on_observation(std::function<void(const transition::pin_snapshot&)> observer) {
  observer_ = std::move(observer);
}

std::chrono::milliseconds pin_watch::interval() const {
  return pace_ == pace::active || !waiting_.empty() ? active_interval : idle_interval;
}

void pin_watch::set_pace(pace wanted) {
  pace_ = wanted;
  schedule(0ms);
}

/// Arms the timer for the next reading: not before `at_least` from now, nor before the interval since the
/// last is over.
void pin_watch::schedule(std::chrono::milliseconds at_least) {
  if (!started_ || !connection_->ready() || polling_) return;
  auto when = clock::now() + at_least;
  if (last_poll_) when = std::max(when, *last_poll_ + interval());
  timer_.expires_at(when);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& ec) {
    if (!ec && !alive.expired()) poll();
  });
}

void pin_watch::poll() {
  if (polling_ || !connection_->ready()) return;
  polling_ = true;
  last_poll_ = clock::now();
  const transition::statements texts(settings_, {});
  add({texts.read_pins(), [this](std::optional<sql_result> result) { polled_pins(std::move(result)); }});
}

void pin_watch::polled_pins(std::optional<sql_result> result) {
  const auto* set = first_set(result);
  if (set == nullptr) {
    reading_.error = why_not(result);
    fail_waiting(reading_.error);
  } else {
    reading_.error.clear();
    reading_.pins = transition::read_pins(*set, std::chrono::system_clock::now());
    const auto waiting = std::exchange(waiting_, {});
    for (const auto& handler : waiting)
      handler(&*reading_.pins, {});
    if (observer_) observer_(*reading_.pins);
  }
  if (!result) return;
  const transition::statements texts(settings_, {});
  add({texts.read_control_row(), [this](std::optional<sql_result> row) { polled_row(std::move(row)); }});
}

void pin_watch::polled_row(std::optional<sql_result> result) {
  if (!result) {
    polling_ = false;
    return;
  }
  if (const auto* set = first_set(result)) {
    reading_.row = transition::read_control_row(*set);
    if (reading_.error.empty() && reading_.row->row_count == 0)
      reading_.error = "the control row does not exist";
    if (reading_.error.empty() && reading_.row->row_count > 1) {
      reading_.error = "control_row.where selects more than one row";
    }
  } else {
    reading_.row.reset();
    reading_.error = "the control row could not be read: " + why_not(result);
  }
  if (reading_.row && reading_.row->version != history_version_) look_for_history();
  if (last_fleet_poll_ && clock::now() - *last_fleet_poll_ < fleet_interval) {
    polled();
    return;
  }
  const transition::statements texts(settings_, {});
  add({texts.read_fleet(), [this](std::optional<sql_result> fleet) { polled_fleet(std::move(fleet)); }});
}

/// A change by any sidecar of the fleet changes the control row, and is in the audit table from then on.
void pin_watch::look_for_history() {
  history_version_ = reading_.row->version;
  const transition::statements texts(settings_, {});
  auto found = [this](const std::optional<sql_result>& table) {
    const auto* set = first_set(table);
    if (set == nullptr || transition::single_value(*set) != "t") return;
    auto read = [this](const std::optional<sql_result>& entries) {
      const auto* rows = first_set(entries);
      if (rows != nullptr && history_told_) history_told_(transition::read_history(*rows));
    };
    add({transition::statements(settings_, {}).read_history(), std::move(read)});
  };
  add({texts.find_audit_table(), std::move(found)});
}

void pin_watch::polled_fleet(std::optional<sql_result> result) {
  last_fleet_poll_ = clock::now();
  if (const auto* set = first_set(result)) reading_.sidecars = transition::read_control_sessions(*set);
  polled();
}

void pin_watch::polled() {
  polling_ = false;
  schedule(0ms);
}

void pin_watch::fail_waiting(const std::string& why) {
  const auto waiting = std::exchange(waiting_, {});
  for (const auto& handler : waiting)
    handler(nullptr, why);
}

void pin_watch::pins(pins_handler handler) {
  const bool fresh = last_poll_ && clock::now() - *last_poll_ < active_interval && reading_.pins && !polling_;
  if (fresh && connection_->ready()) {
    handler(&*reading_.pins, {});
  } else if (!connection_->ready()) {
    handler(nullptr, connection_error_);
  } else {
    waiting_.push_back(std::move(handler));
    schedule(0ms);
  }
}

void pin_watch::control_row(row_handler handler) {
  if (!connection_->ready()) {
    handler(nullptr, connection_error_);
    return;
  }
  const transition::statements texts(settings_, {});
  add({texts.read_control_row(), [this, handler = std::move(handler)](std::optional<sql_result> result) {
         const auto* set = first_set(result);
         if (set == nullptr) {
           handler(nullptr, why_not(result));
         } else {
           const auto row = transition::read_control_row(*set);
           reading_.row = row;
           handler(&row, {});
         }
       }});
}

void pin_watch::cancel_backend(std::int32_t pid, cancel_handler handler) {
  if (!connection_->ready()) {
    handler(false);
    return;
  }
  // In front of everything else: writers may be waiting for it.
  add({"SELECT pg_catalog.pg_cancel_backend(" + std::to_string(pid) + ")",
       [handler = std::move(handler)](std::optional<sql_result> result) {
         const auto* set = first_set(result);
         handler(set != nullptr && transition::single_value(*set) == "t");
       }},
      true);
}

void pin_watch::plan(plan_handler handler) {
  if (!connection_->ready()) {
    handler(nullptr, connection_error_);
    return;
  }
  const transition::statements texts(settings_, {});
  add({texts.plan(), [handler = std::move(handler)](const std::optional<sql_result>& result) {
         const auto facts =
             result ? transition::read_plan_facts(*result, std::chrono::system_clock::now()) : std::nullopt;
         facts ? handler(&*facts, {}) : handler(nullptr, why_not(result));
       }});
}

void pin_watch::evict(const std::string& text, std::function<void(std::string)> handler) {
  if (!connection_->ready()) {
    handler(connection_error_);
    return;
  }
  add({text, [handler = std::move(handler)](const std::optional<sql_result>& result) {
         const auto* set = first_set(result);
         if (set == nullptr) {
           handler(why_not(result));
         } else {
           handler(transition::single_value(*set) == "t" ? "ended" : "gone");
         }
       }});
}

std::optional<std::int32_t> pin_watch::backend_pid() const {
  const auto& facts = connection_->facts();
  return facts ? std::optional(facts->backend_pid) : std::nullopt;
}

void pin_watch::add(job next, bool first) {
  if (first) {
    jobs_.push_front(std::move(next));
  } else {
    jobs_.push_back(std::move(next));
  }
  run_next();
}

void pin_watch::run_next() {
  if (jobs_.empty() || !connection_->ready() || connection_->busy()) return;
  auto next = std::move(jobs_.front());
  jobs_.pop_front();
  connection_->run(next.text, [this, handler = std::move(next.handler)](std::optional<sql_result> result) {
    const bool alive = result.has_value();
    handler(std::move(result));
    if (alive) run_next();
  });
}

} // namespace ledgergate::control
