#include "proxy/control/catalog_watch.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/asio/post.hpp>

#include "proxy/control/catalog_text.hpp"
#include "proxy/observe/log.hpp"

namespace ledgergate::control {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using transition::sql_result;

constexpr auto retry_after_failure = 1s;

std::string why_not(const std::optional<sql_result>& result) {
  if (!result) return "the catalog connection was lost";
  return result->error ? result->error->message + " (" + result->error->sqlstate + ")"
                       : std::string("the server's answer was not understood");
}

} // namespace

catalog_watch::catalog_watch(boost::asio::io_context& io, std::shared_ptr<const config::settings> settings,
                             control_connection::options options, catalog::link_switch kept)
    : io_(io), settings_(std::move(settings)), kept_(kept), timer_(io) {
  options.most_rows = std::numeric_limits<int>::max();
  control_connection::hooks hooks;
  hooks.ready = [this](const session_facts&) { begin_round(); };
  hooks.lost = [this](const transition::server_error& error) {
    if (running_) return; // the round's own handler was told
    last_error_ = error.message;
    std::swap(waiting_, answered_);
    answer(false);
  };
  connection_ = std::make_shared<control_connection>(io, std::move(options), std::move(hooks));
}

catalog_watch::~catalog_watch() { connection_->stop(); }

bool catalog_watch::enabled() const {
  return settings_->gate.mode != config::gate_mode::off && settings_->gate.catalog.closure;
}

void catalog_watch::start() {
  if (!enabled()) return;
  started_ = true;
  connection_->start();
}

void catalog_watch::stop() {
  started_ = false;
  timer_.cancel();
  connection_->stop();
  ++round_;
  running_ = false;
  answer(false);
  std::swap(waiting_, answered_);
  answer(false);
}

void catalog_watch::reload(std::shared_ptr<const config::settings> settings) {
  settings_ = std::move(settings);
  fingerprint_.clear();
  if (enabled() && !started_) {
    start();
  } else if (!enabled() && started_) {
    stop();
  } else {
    begin_round();
  }
}

void catalog_watch::schedule() {
  if (!started_) return;
  timer_.expires_after(last_error_.empty() ? settings_->gate.catalog.refresh
                                           : std::chrono::milliseconds(retry_after_failure));
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& ec) {
    if (!ec && !alive.expired()) begin_round();
  });
}

void catalog_watch::refresh_now(refresh_handler handler) {
  if (!started_ || !connection_->ready()) {
    handler(false);
    return;
  }
  waiting_.push_back(std::move(handler));
  // A round that runs may have looked before what the caller did: it takes another one.
  again_ = running_;
  begin_round();
}

void catalog_watch::begin_round() {
  if (!started_ || running_ || !connection_->ready() || connection_->busy()) return;
  timer_.cancel();
  running_ = true;
  again_ = false;
  round_began_ = clock::now();
  std::swap(waiting_, answered_);
  // Somebody waits because something was defined: most likely everything has to be read anyway.
  if (!answered_.empty()) return read_all();
  connection_->run(fingerprint_text(*settings_), [this](std::optional<sql_result> result) {
    const auto found = result ? read_fingerprint(*result) : std::nullopt;
    if (!found) {
      fail(why_not(result));
    } else if (report_ != nullptr && *found == fingerprint_) {
      succeed();
    } else {
      read_all();
    }
  });
}

void catalog_watch::read_all() {
  connection_->run(catalog_text(*settings_), [this, asked = settings_](std::optional<sql_result> result) {
    auto reading = result ? read_catalog(*result) : std::nullopt;
    if (!reading) {
      fail(why_not(result));
    } else if (asked != settings_) {
      read_all();
    } else if (report_ != nullptr && reading->fingerprint == fingerprint_) {
      succeed();
    } else {
      compute(std::move(*reading));
    }
  });
}

void catalog_watch::compute(catalog_reading reading) {
  auto work = [this, reading = std::make_shared<catalog_reading>(std::move(reading)), settings = settings_,
               kept = kept_, round = round_, alive = std::weak_ptr(alive_)] {
    auto report = std::make_shared<const catalog::catalog_report>(
        catalog::make_closure(reading->rows, *settings, kept));
    boost::asio::post(io_, [this, reading, report, settings, round, alive] {
      if (alive.expired() || round != round_) return;
      // A closure of names that were replaced meanwhile would leave out what leads to the new ones.
      if (settings != settings_) return read_all();
      publish(reading->fingerprint, report);
    });
  };
  boost::asio::post(worker_, std::move(work));
}

void catalog_watch::publish(std::string fingerprint, std::shared_ptr<const catalog::catalog_report> report) {
  fingerprint_ = std::move(fingerprint);
  report_ = std::move(report);
  ++generation_;
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - *round_began_);
  observe::log(config::log_level::info, "catalog closure " + std::to_string(generation_) + ": " +
                                            std::to_string(report_->gated.size()) + " names are gated, " +
                                            std::to_string(report_->unseen.size()) +
                                            " cannot be looked into, read in " +
                                            std::to_string(took.count()) + " ms");
  if (!observer_) return succeed();
  observer_(report_, [this, round = round_, alive = std::weak_ptr(alive_)] {
    if (!alive.expired() && round == round_) succeed();
  });
}

void catalog_watch::succeed() {
  last_error_.clear();
  current_at_ = round_began_;
  running_ = false;
  answer(true);
  if (again_ || !waiting_.empty() || fingerprint_.empty()) {
    begin_round();
  } else {
    schedule();
  }
}

void catalog_watch::fail(std::string why) {
  ++failures_;
  if (why != last_error_) observe::log(config::log_level::warn, "the catalogs could not be read: " + why);
  last_error_ = std::move(why);
  running_ = false;
  answer(false);
  schedule();
}

void catalog_watch::answer(bool current) {
  const auto handlers = std::exchange(answered_, {});
  for (const refresh_handler& handler : handlers)
    handler(current);
}

catalog_status catalog_watch::status() const {
  catalog_status out;
  out.enabled = enabled();
  out.generation = generation_;
  if (current_at_)
    out.age = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - *current_at_);
  out.last_error = out.enabled ? last_error_ : std::string();
  out.failures = failures_;
  out.report = report_;
  return out;
}

} // namespace ledgergate::control
