#include "proxy/control/transition_driver.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include "proxy/observe/log.hpp"

namespace ledgergate::control {

namespace {

using transition::transition_record;
using transition::transition_state;

constexpr std::size_t most_history = 200;

std::string log_line(const transition_record& record) {
  std::string line = (record.request.rehearse ? "rehearsal " : "transition ") + record.id + " " +
                     record.from.value_or("?") + " -> " + record.to + ": " +
                     std::string(to_string(record.state));
  if (record.reason) line += " (" + std::string(to_string(*record.reason)) + ")";
  if (!record.message.empty()) line += ", " + record.message;
  if (record.error) line += ": " + record.error->message + " (" + record.error->sqlstate + ")";
  return line;
}

void refuse_while_stopping(const transition_driver::admission_handler& handler) {
  handler({transition::admission::kind::unavailable, {}, "the sidecar is shutting down", std::nullopt},
          std::nullopt);
}

} // namespace

transition_driver::transition_driver(boost::asio::io_context& io, control_connection::options options,
                                     pin_watch& watch)
    : watch_(watch), timer_(io), random_(std::random_device{}()) {
  control_connection::hooks hooks;
  hooks.ready = [this](const session_facts& facts) { connection_ready(facts); };
  hooks.lost = [this](const transition::server_error& error) {
    last_error_ = error.message;
    if (engine_) feed(transition::event::connection_lost{error});
  };
  connection_ = std::make_shared<control_connection>(io, std::move(options), std::move(hooks));
  watch_.on_history([this](std::vector<transition_record> entries) { merge(std::move(entries)); });
  watch_.on_observation([this](const transition::pin_snapshot& pins) {
    if (engine_) feed(transition::event::pins_observed{pins});
  });
}

/// Entries of the audit table: changes by others, and our own from before a restart.
void transition_driver::merge(std::vector<transition_record> entries) {
  for (transition_record& entry : entries) {
    const bool known = std::any_of(history_.begin(), history_.end(),
                                   [&](const transition_record& old) { return old.id == entry.id; });
    if (!known && (!engine_ || engine_->id() != entry.id)) history_.push_back(std::move(entry));
  }
  std::stable_sort(history_.begin(), history_.end(),
                   [](const transition_record& left, const transition_record& right) {
                     return left.state_since > right.state_since;
                   });
  if (history_.size() > most_history) history_.resize(most_history);
}

transition_driver::~transition_driver() { connection_->stop(); }

void transition_driver::start() { connection_->start(); }

void transition_driver::stop(std::function<void()> done) {
  stopped_ = std::move(done);
  stopping_ = true;
  for (const auto& asked : std::exchange(pending_, {}))
    refuse_while_stopping(asked.handler);
  if (engine_ && engine_->cancellable())
    feed(transition::event::cancel_asked{"the sidecar is shutting down"});
  if (stopped_ && (!engine_ || is_unknown())) finish();
}

bool transition_driver::is_unknown() const {
  return engine_->record(std::chrono::steady_clock::now()).state == transition_state::unknown;
}

bool transition_driver::has_ended() const {
  return engine_->record(std::chrono::steady_clock::now()).is_final();
}

transition::moment transition_driver::now() {
  std::uniform_real_distribution<double> jitter(0.0, 1.0);
  return {std::chrono::steady_clock::now(), jitter(random_)};
}

void transition_driver::request(std::shared_ptr<const config::settings> settings,
                                transition::transition_request request, admission_handler handler) {
  if (stopping_) {
    refuse_while_stopping(handler);
    return;
  }
  pending_.push_back({std::move(settings), std::move(request), std::move(handler)});
  run_next();
}

/// A request that carries the id of one accepted before: what became of that one, whatever this one is.
bool transition_driver::answer_from_history(const pending_request& asked) const {
  const auto& wanted = asked.request;
  if (!wanted.request_id) return false;
  for (const transition_record& known : list()) {
    if (known.request.request_id != wanted.request_id) continue;
    using kind = enum transition::admission::kind;
    const auto& first = known.request;
    const bool same = first.to == wanted.to && first.from == wanted.from &&
                      first.expect_version == wanted.expect_version && first.rehearse == wanted.rehearse;
    if (same) {
      asked.handler({kind::repeated, known.id, {}, std::nullopt}, known);
    } else {
      asked.handler({kind::request_id_reused, known.id,
                     "this request_id belongs to another request, for " + first.to, std::nullopt},
                    std::nullopt);
    }
    return true;
  }
  return false;
}

void transition_driver::run_next() {
  while (!pending_.empty() && (!engine_ || engine_->admitted())) {
    const bool known = answer_from_history(pending_.front());
    // One that has ended and only tidies up is no rival: its end is waited for.
    if (!known && (!engine_ || has_ended())) break;
    if (!known) {
      pending_.front().handler(
          {transition::admission::kind::conflict, engine_->id(), "another transition runs", std::nullopt},
          std::nullopt);
    }
    pending_.pop_front();
  }
  if (pending_.empty() || engine_ || feeding_) return;
  auto next = std::move(pending_.front());
  pending_.pop_front();
  admission_handler_ = std::move(next.handler);
  logged_state_.reset();
  auto id = boost::uuids::to_string(boost::uuids::random_generator()());
  const auto start = now();
  engine_ = std::make_unique<transition::transition_engine>(std::move(next.settings), std::move(id),
                                                            std::move(next.request), start,
                                                            std::chrono::system_clock::now());
  watch_.set_pace(pin_watch::pace::active);
  transition::transition_engine::actions actions;
  feeding_ = true;
  engine_->start(start, actions);
  for (auto& wanted : actions)
    carry_out(wanted);
  feeding_ = false;
  if (connection_->ready()) connection_ready(*connection_->facts());
}

/// Events that come while actions are carried out (a connection that fails at once) wait for their turn.
void transition_driver::feed(transition::transition_event what) {
  events_.push_back(std::move(what));
  if (feeding_) return;
  feeding_ = true;
  transition::transition_engine::actions actions;
  while (!events_.empty() && engine_) {
    const auto next = std::move(events_.front());
    events_.pop_front();
    actions.clear();
    engine_->handle(next, now(), actions);
    for (auto& wanted : actions)
      carry_out(wanted);
    if (connection_wanted_ && connection_->ready()) connection_ready(*connection_->facts());
  }
  events_.clear();
  feeding_ = false;
  if (engine_ && (engine_->finished() || (stopped_ && is_unknown()))) finish();
  run_next();
}

void transition_driver::connection_ready(const session_facts& facts) {
  last_error_.clear();
  if (!engine_ || !connection_wanted_) return;
  connection_wanted_ = false;
  feed(transition::event::connected{facts.backend_pid, facts.deadlock_timeout});
}

void transition_driver::carry_out(transition::transition_action& wanted) {
  using namespace transition::action;
  if (auto* run = std::get_if<run_sql>(&wanted)) {
    // When it is gone already, connection_lost is on its way.
    if (!connection_->ready()) return;
    connection_->run(run->text, [this](std::optional<transition::sql_result> result) {
      if (result) feed(transition::event::sql_done{std::move(*result)});
    });
  } else if (std::holds_alternative<transition::action::cancel_statement>(wanted)) {
    cancel_statement();
  } else if (const auto* idle = std::get_if<evict_idle>(&wanted)) {
    evict(*idle);
  } else if (const auto* drop = std::get_if<drop_connection>(&wanted)) {
    connection_->drop(drop->why);
  } else if (std::holds_alternative<need_connection>(wanted)) {
    connection_wanted_ = true;
  } else if (const auto* timer = std::get_if<arm_timer>(&wanted)) {
    arm(timer->at);
  } else if (const auto* answer = std::get_if<transition::action::admit>(&wanted)) {
    admit(answer->answer);
  } else if (std::holds_alternative<transition::action::publish>(wanted)) {
    publish();
  }
  // action::finish: the engine says so itself, see feed().
}

void transition_driver::cancel_statement() {
  if (!connection_->facts()) return;
  watch_.cancel_backend(connection_->facts()->backend_pid, [this, id = engine_->id()](bool told) {
    if (!engine_ || engine_->id() != id) return;
    if (told) {
      feed(transition::event::cancel_done{});
    } else {
      // F26: the server then notices that we are gone within client_connection_check_interval.
      connection_->drop("a cancel could not be sent");
    }
  });
}

void transition_driver::evict(const transition::action::evict_idle& wanted) {
  auto answered = [this, id = engine_->id(), holder = wanted.holder](const std::string& outcome) {
    observe::log(config::log_level::warn,
                 "transition " + id + " evicts pid " + std::to_string(holder.pid.value_or(0)) + " (" +
                     holder.application.value_or("") + ", " + holder.user.value_or("") + ", " +
                     holder.state.value_or("") + "), which holds the gate: " + outcome);
    if (engine_ && engine_->id() == id) feed(transition::event::evicted{holder, outcome});
  };
  watch_.evict(wanted.text, std::move(answered));
}

void transition_driver::arm(transition::time_point at) {
  // A timer that is replaced in the moment it fires calls back all the same.
  timer_.expires_at(at);
  timer_.async_wait(
      [this, number = ++timer_number_, alive = std::weak_ptr(alive_)](const boost::system::error_code& ec) {
        if (!ec && !alive.expired() && engine_ && number == timer_number_)
          feed(transition::event::timer_fired{});
      });
}

void transition_driver::admit(const transition::admission& answer) {
  const bool with_record = answer.kind == transition::admission::kind::accepted ||
                           answer.kind == transition::admission::kind::already_there;
  if (answer.kind == transition::admission::kind::accepted) {
    const auto& asked = engine_->record(std::chrono::steady_clock::now()).request;
    observe::log(config::log_level::info, "transition " + engine_->id() + " to " + asked.to +
                                              " accepted, asked for by " + asked.requested_by +
                                              (asked.reason ? ", because: " + *asked.reason : std::string()));
  }
  const auto handler = std::exchange(admission_handler_, nullptr);
  handler(answer,
          with_record ? std::optional(engine_->record(std::chrono::steady_clock::now())) : std::nullopt);
  // It is part of the history although it never ran.
  if (answer.kind == transition::admission::kind::already_there) publish();
}

void transition_driver::publish() {
  const auto record = engine_->record(std::chrono::steady_clock::now());
  if (logged_state_ != record.state) {
    logged_state_ = record.state;
    const bool bad = record.state == transition_state::aborted || record.state == transition_state::unknown;
    observe::log(bad ? config::log_level::warn : config::log_level::info, log_line(record));
  }
  const bool known = std::any_of(history_.begin(), history_.end(),
                                 [&](const transition_record& old) { return old.id == record.id; });
  if (record.is_final() && !known) {
    history_.push_front(record);
    if (history_.size() > most_history) history_.pop_back();
  }
  if (observer_) observer_(record);
}

void transition_driver::finish() {
  engine_.reset();
  connection_wanted_ = false;
  ++timer_number_;
  timer_.cancel();
  watch_.set_pace(pin_watch::pace::idle);
  if (!stopped_) return;
  connection_->stop();
  const auto done = std::exchange(stopped_, nullptr);
  done();
}

bool transition_driver::cancel(const std::string& id, const std::string& why) {
  if (!engine_ || engine_->id() != id || !engine_->admitted() || !engine_->cancellable()) return false;
  feed(transition::event::cancel_asked{why});
  return true;
}

std::optional<transition_record> transition_driver::get(const std::string& id) const {
  if (auto running = current(); running && running->id == id) return running;
  const auto found = std::find_if(history_.begin(), history_.end(),
                                  [&](const transition_record& record) { return record.id == id; });
  return found == history_.end() ? std::nullopt : std::optional(*found);
}

std::vector<transition_record> transition_driver::list() const {
  std::vector<transition_record> out;
  // Between the commit and the end of its session the newest is in both places.
  const auto running = current();
  if (running) out.push_back(*running);
  std::copy_if(history_.begin(), history_.end(), std::back_inserter(out),
               [&](const transition_record& old) { return !running || old.id != running->id; });
  return out;
}

std::optional<transition_record> transition_driver::current() const {
  if (!engine_ || !engine_->admitted()) return std::nullopt;
  return engine_->record(std::chrono::steady_clock::now());
}

} // namespace ledgergate::control
