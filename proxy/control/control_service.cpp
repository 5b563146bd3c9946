#include "proxy/control/control_service.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/build_information.hpp"
#include "proxy/control/catalog_watch.hpp"
#include "proxy/control/control_connection.hpp"
#include "proxy/control/pin_watch.hpp"
#include "proxy/control/transition_driver.hpp"
#include "proxy/control/visible.hpp"

namespace ledgergate::control {

namespace {

using transition::transition_record;

control_connection::options options_for(const config::settings& settings, const std::string& purpose) {
  boost::system::error_code ec;
  auto host = boost::asio::ip::host_name(ec);
  control_connection::options options;
  options.dsn = settings.control.dsn;
  options.application_name = application_name(std::string(config::version()), ec ? "unknown" : host);
  options.database = settings.gate.database;
  options.shorten_deadlock_timeout = purpose == "transitions";
  options.purpose = purpose;
  return options;
}

enum start_answer::kind kind_of(enum transition::admission::kind kind) {
  switch (kind) {
  case transition::admission::kind::accepted: return start_answer::kind::accepted;
  case transition::admission::kind::already_there: return start_answer::kind::already_there;
  case transition::admission::kind::repeated: return start_answer::kind::repeated;
  case transition::admission::kind::conflict: return start_answer::kind::conflict;
  case transition::admission::kind::request_id_reused: return start_answer::kind::request_id_reused;
  case transition::admission::kind::precondition_failed: return start_answer::kind::precondition_failed;
  case transition::admission::kind::unavailable: break;
  }
  return start_answer::kind::unavailable;
}

} // namespace

class control_service::implementation {
 public:
  implementation(boost::asio::io_context& io, std::shared_ptr<const config::settings> settings,
                 catalog::link_switch kept)
      : io_(io), settings_(std::move(settings)), watch_(io, settings_, options_for(*settings_, "watch")),
        driver_(io, options_for(*settings_, "transitions"), watch_),
        catalog_(io, settings_, options_for(*settings_, "catalog"), kept) {
    driver_.on_change([this](const transition_record& record) {
      if (observer_) observer_(shown(record));
    });
  }

  void start() {
    watch_.start();
    driver_.start();
    catalog_.start();
  }

  void stop(std::function<void()> done) {
    catalog_.stop();
    // The watch is needed to the last: a transition that waits is cancelled through it.
    driver_.stop([this, done = std::move(done)] {
      boost::asio::post(io_, [this, done] {
        watch_.stop();
        done();
      });
    });
  }

  void reload(std::shared_ptr<const config::settings> settings) {
    settings_ = std::move(settings);
    watch_.reload(settings_);
    catalog_.reload(settings_);
  }

  void start_transition(transition::transition_request request, std::function<void(start_answer)> handler) {
    if (const auto refusal = unknown_mode(request)) {
      start_answer answer;
      answer.kind = start_answer::kind::unknown_mode;
      answer.message = *refusal;
      boost::asio::post(io_, [handler = std::move(handler), answer = std::move(answer)] { handler(answer); });
      return;
    }
    auto answered = [this, handler = std::move(handler)](const transition::admission& admission,
                                                         std::optional<transition_record> record) {
      start_answer answer{kind_of(admission.kind), std::nullopt, admission.conflict_id, admission.message,
                          admission.error};
      if (record) answer.record = shown(std::move(*record));
      boost::asio::post(io_, [handler, answer = std::move(answer)] { handler(answer); });
    };
    driver_.request(settings_, std::move(request), std::move(answered));
  }

  /// A sentence when `to` or `from` is not a configured mode.
  std::optional<std::string> unknown_mode(const transition::transition_request& request) const {
    for (const auto& mode : {std::optional(request.to), request.from}) {
      if (mode &&
          std::find(settings_->modes.begin(), settings_->modes.end(), *mode) == settings_->modes.end())
        return "\"" + *mode + "\" is not one of the configured modes";
    }
    return std::nullopt;
  }

  void plan(transition::transition_request request, transition::plan_context context,
            std::function<void(plan_answer)> handler) {
    if (auto refusal = unknown_mode(request)) {
      plan_answer answer;
      answer.unknown_mode = true;
      answer.error = std::move(*refusal);
      handler(std::move(answer));
      return;
    }
    watch_.plan([this, request = std::move(request), context = std::move(context),
                 handler = std::move(handler)](const transition::plan_facts* facts,
                                               const std::string& error) mutable {
      plan_answer answer;
      answer.error = error;
      if (facts != nullptr) {
        complete(context, request.to);
        answer.plan = transition::make_plan(*settings_, request, *facts, context);
        answer.record = shown(planned_record(*settings_, request, *facts, std::chrono::system_clock::now()));
        if (answer.plan->oldest) {
          answer.plan->oldest = visible(std::move(*answer.plan->oldest), settings_->log.statements);
        }
      }
      handler(std::move(answer));
    });
  }

  /// What the plan needs and this folder knows.
  void complete(transition::plan_context& context, const std::string& to) const {
    context.control_connected = driver_.connected();
    const auto& facts = driver_.facts();
    context.deadlock_timeout_shortened = facts && facts->deadlock_timeout_shortened;
    if (facts) context.own.control.push_back(facts->backend_pid);
    for (const auto pid : {watch_.backend_pid(), catalog_.backend_pid()})
      if (pid) context.own.control.push_back(*pid);
    for (const transition_record& record : driver_.list()) {
      const bool whole = record.state == transition::transition_state::committed || record.rehearsed;
      if (record.to != to || !whole || record.timings.hold.count() == 0) continue;
      context.last_hold = record.timings.hold;
      break;
    }
  }

  transition_record shown(transition_record record) const {
    return visible(std::move(record), settings_->log.statements);
  }

  control_status status() const {
    control_status out;
    const auto& reading = watch_.last();
    out.watching = watch_.connected() && reading.error.empty();
    out.connected = watch_.connected() && driver_.connected();
    if (reading.row && reading.row->row_count == 1) {
      out.mode = reading.row->mode;
      out.version = reading.row->version;
      out.mode_since = reading.row->changed_at;
    }
    if (reading.pins) {
      out.pins_held = reading.pins->pins_held();
      out.pins_waiting = reading.pins->pins_waiting();
      out.oldest_pin_age = reading.pins->oldest_pin_age();
      out.observed_at = reading.pins->observed_at;
    }
    out.last_error = driver_.last_error().empty() ? watch_.last_error() : driver_.last_error();
    if (const auto& facts = driver_.facts()) {
      out.deadlock_takes_transition = facts->deadlock_timeout_shortened;
      database_ = facts->database;
    }
    out.database = database_;
    out.own_name = options_for(*settings_, "").application_name;
    out.sidecars = transition::sidecars_of(watch_.last().sidecars);
    return out;
  }

  void refresh_catalog(std::chrono::milliseconds patience, std::function<void(bool)> handler) {
    // Whichever comes first answers; the other finds nothing left to call.
    auto once = std::make_shared<std::function<void(bool)>>(std::move(handler));
    auto timer = std::make_shared<boost::asio::steady_timer>(io_, patience);
    const auto answer = [once, timer](bool current) {
      timer->cancel();
      if (const auto told = std::exchange(*once, nullptr)) told(current);
    };
    timer->async_wait([answer](const boost::system::error_code& ec) {
      if (!ec) answer(false);
    });
    catalog_.refresh_now(answer);
  }

  boost::asio::io_context& io_;
  std::shared_ptr<const config::settings> settings_;
  pin_watch watch_;
  transition_driver driver_;
  catalog_watch catalog_;
  std::function<void(const transition_record&)> observer_;
  mutable std::string database_; ///< of the last connection that was ready
};

control_service::control_service(boost::asio::io_context& io,
                                 std::shared_ptr<const config::settings> settings, catalog::link_switch kept)
    : implementation_(std::make_unique<implementation>(io, std::move(settings), kept)) {}

control_service::~control_service() = default;

void control_service::start() { implementation_->start(); }

void control_service::stop(std::function<void()> done) { implementation_->stop(std::move(done)); }

void control_service::reload(std::shared_ptr<const config::settings> settings) {
  implementation_->reload(std::move(settings));
}

void control_service::start_transition(transition::transition_request request,
                                       std::function<void(start_answer)> handler) {
  implementation_->start_transition(std::move(request), std::move(handler));
}

void control_service::plan(transition::transition_request request, transition::plan_context context,
                           std::function<void(plan_answer)> handler) {
  implementation_->plan(std::move(request), std::move(context), std::move(handler));
}

cancel_result control_service::cancel(const std::string& id, const std::string& who) {
  const auto known = implementation_->driver_.get(id);
  if (!known) return cancel_result::not_found;
  if (known->is_final()) return cancel_result::already_ended;
  const std::string why = who.empty() ? "an operator cancelled it" : "an operator cancelled it (" + who + ")";
  return implementation_->driver_.cancel(id, why) ? cancel_result::asked : cancel_result::too_late;
}

std::optional<transition_record> control_service::get(const std::string& id) const {
  auto record = implementation_->driver_.get(id);
  return record ? std::optional(implementation_->shown(std::move(*record))) : std::nullopt;
}

std::vector<transition_record> control_service::list() const {
  auto records = implementation_->driver_.list();
  for (auto& record : records)
    record = implementation_->shown(std::move(record));
  return records;
}

std::optional<transition_record> control_service::current() const {
  auto record = implementation_->driver_.current();
  return record ? std::optional(implementation_->shown(std::move(*record))) : std::nullopt;
}

void control_service::on_change(std::function<void(const transition_record&)> observer) {
  implementation_->observer_ = std::move(observer);
}

std::optional<std::string> control_service::install_text(transition::guard_kind guards) const {
  const auto& facts = implementation_->driver_.facts();
  if (!facts) return std::nullopt;
  return transition::install_text(*implementation_->settings_, guards, facts->user);
}

control_status control_service::status() const { return implementation_->status(); }

catalog_status control_service::catalog() const { return implementation_->catalog_.status(); }

void control_service::on_catalog(catalog_observer observer) {
  implementation_->catalog_.on_report(std::move(observer));
}

void control_service::refresh_catalog(std::chrono::milliseconds patience,
                                      std::function<void(bool current)> handler) {
  implementation_->refresh_catalog(patience, std::move(handler));
}

void control_service::pins(std::function<void(pins_answer)> handler) {
  const auto statements = implementation_->settings_->log.statements;
  implementation_->watch_.pins([handler = std::move(handler),
                                statements](const transition::pin_snapshot* pins, const std::string& error) {
    pins_answer answer;
    if (pins != nullptr) answer.snapshot = visible(*pins, statements);
    answer.error = error;
    handler(std::move(answer));
  });
}

void control_service::read_control_row(std::function<void(control_row_answer)> handler) {
  implementation_->watch_.control_row(
      [handler = std::move(handler)](const transition::control_row* row, const std::string& error) {
        control_row_answer answer;
        if (row != nullptr && row->row_count == 1) {
          answer.mode = row->mode;
          answer.xmin = row->xmin;
        }
        answer.error = error;
        handler(std::move(answer));
      });
}

} // namespace ledgergate::control
