#include "tests/simulation/operator_desk.hpp"

#include <utility>

#include "protocol/backend_message.hpp"
#include "protocol/frontend_message.hpp"
#include "protocol/reader.hpp"
#include "protocol/tags.hpp"

namespace ledgergate::simulation {

namespace backend = protocol::backend;

namespace {

transition::time_point at(virtual_time now) { return transition::time_point(std::chrono::microseconds(now)); }

transition::sql_row read_row(std::string_view body) {
  protocol::reader in(body);
  transition::sql_row out(in.int16());
  for (auto& column : out) {
    const std::uint32_t size = in.int32();
    if (size == 0xffffffffU) continue;
    column = std::string(in.rest().substr(0, size));
    in.skip(size);
  }
  return out;
}

transition::server_error read_error(std::string_view body) {
  transition::server_error out;
  out.sqlstate = protocol::error_field(body, 'C');
  out.message = protocol::error_field(body, 'M');
  return out;
}

} // namespace

operator_desk::operator_desk(model_database& database, witness& watcher, random_source& chance,
                             std::shared_ptr<const config::settings> settings,
                             std::function<lock_holder()> next_backend)
    : database_(database), witness_(watcher), chance_(chance), settings_(std::move(settings)),
      next_backend_(std::move(next_backend)) {}

transition::moment operator_desk::now() const { return {at(database_.now), chance_.fraction()}; }

void operator_desk::begin(const std::string& to) {
  transition::transition_request request;
  request.to = to;
  backends_used_.clear();
  if (backend_ != nullptr && backend_->alive()) backends_used_.push_back(backend_->id());
  over_ = false;
  timer_.reset();
  engine_ = std::make_unique<transition::transition_engine>(settings_, "id" + std::to_string(finished_),
                                                            request, now(), transition::wall_time{});
  // What this backend committed before belongs to another transition.
  backend_.reset();
  backends_used_.clear();
  std::vector<transition::transition_action> actions;
  engine_->start(now(), actions);
  carry_out(std::move(actions));
}

void operator_desk::tell(const transition::transition_event& what) {
  std::vector<transition::transition_action> actions;
  engine_->handle(what, now(), actions);
  carry_out(std::move(actions));
}

void operator_desk::carry_out(std::vector<transition::transition_action> actions) {
  for (const auto& action : actions) {
    if (const auto* sql = std::get_if<transition::action::run_sql>(&action)) {
      std::string bytes;
      protocol::append_query(bytes, sql->text);
      if (backend_ != nullptr) backend_->feed(bytes);
    } else if (const auto* timer = std::get_if<transition::action::arm_timer>(&action)) {
      timer_ = std::chrono::duration_cast<std::chrono::microseconds>(timer->at.time_since_epoch()).count();
    } else if (std::holds_alternative<transition::action::need_connection>(action)) {
      connect_ = true;
    } else if (std::holds_alternative<transition::action::cancel_statement>(action)) {
      cancel_ = true;
    } else if (std::holds_alternative<transition::action::drop_connection>(action)) {
      if (backend_ != nullptr) backend_->end_of_input();
    } else if (std::holds_alternative<transition::action::finish>(action)) {
      over_ = true;
    }
  }
}

bool operator_desk::can_move() const {
  if (engine_ == nullptr) return false;
  return over_ || connect_ || cancel_ || !answers_.empty() ||
         (backend_ != nullptr && (backend_->runnable() || !backend_->alive()));
}

void operator_desk::move() {
  if (over_) {
    check_outcome();
    engine_.reset();
    return;
  }
  if (connect_) {
    connect_ = false;
    if (backend_ == nullptr || !backend_->alive()) {
      backend_ = std::make_unique<model_backend>(database_, witness_, &chance_, next_backend_());
      backend_->settings["deadlock_timeout"] = "20";
      answers_.clear();
      result_ = {};
      set_ = {};
      backends_used_.push_back(backend_->id());
    }
    tell(transition::event::connected{backend_->id(), std::chrono::milliseconds(1000)});
    return;
  }
  if (cancel_ && chance_.one_in(3)) {
    cancel_ = false;
    if (backend_ != nullptr) backend_->cancel();
    tell(transition::event::cancel_done{});
    return;
  }
  if (backend_ == nullptr) return;
  if (backend_->runnable()) backend_->step();
  answers_ += backend_->take_output();
  read_answers();
  if (backend_ != nullptr && !backend_->alive()) connection_over();
}

void operator_desk::connection_over() {
  transition::event::connection_lost lost;
  lost.error = result_.error.value_or(transition::server_error{"08006", "connection lost", "", ""});
  backend_.reset();
  answers_.clear();
  cancel_ = false;
  tell(lost);
}

void operator_desk::read_answers() {
  while (answers_.size() >= protocol::header_bytes) {
    const std::size_t total = 1 + protocol::load_int32(answers_.data() + 1);
    if (answers_.size() < total) return;
    const char tag = answers_[0];
    const std::string body = answers_.substr(protocol::header_bytes, total - protocol::header_bytes);
    answers_.erase(0, total);
    if (tag == backend::row_description) set_.column_count = 1;
    if (tag == backend::data_row) set_.rows.push_back(read_row(body));
    if (tag == backend::error_response) result_.error = read_error(body);
    if (tag == backend::command_complete) {
      set_.command_tag = body.c_str();
      result_.sets.push_back(std::exchange(set_, {}));
    }
    if (tag != backend::ready_for_query) continue;
    result_.status = body == "I"   ? transition::transaction_status::idle
                     : body == "T" ? transition::transaction_status::in_transaction
                                   : transition::transaction_status::in_error;
    transition::event::sql_done done;
    done.result = std::exchange(result_, {});
    set_ = {};
    tell(done);
  }
}

std::optional<virtual_time> operator_desk::next_moment() const {
  if (engine_ == nullptr) return std::nullopt;
  const auto of_backend = backend_ == nullptr ? std::nullopt : backend_->next_moment();
  if (!timer_ || !of_backend) return timer_ ? timer_ : of_backend;
  return std::min(*timer_, *of_backend);
}

void operator_desk::time() {
  if (engine_ == nullptr) return;
  if (backend_ != nullptr) backend_->time();
  if (!timer_ || *timer_ > database_.now || over_) return;
  timer_.reset();
  tell(transition::event::timer_fired{});
}

void operator_desk::ask_cancel() {
  if (engine_ != nullptr && !over_ && engine_->cancellable())
    tell(transition::event::cancel_asked{"an operator"});
}

void operator_desk::lose_backend() {
  if (backend_ != nullptr) backend_->terminate();
}

void operator_desk::go_home() {
  if (backend_ != nullptr && backend_->at_rest() && database_.locks.holds_anything(backend_->id()))
    witness_.report("G8: the control session holds a lock when its transition is over");
  backend_.reset();
}

void operator_desk::cancel_backend() {
  if (backend_ != nullptr) backend_->cancel();
}

/// G8: what it reports is what happened.
void operator_desk::check_outcome() {
  unsigned changes = 0;
  for (const lock_holder id : backends_used_)
    changes += witness_.mode_changes_by(id);
  const auto record = engine_->record(at(database_.now));
  const bool changed = record.state == transition::transition_state::committed && record.changed;
  if (changes != (changed ? 1U : 0U))
    witness_.report("G8: a transition reports " + std::string(to_string(record.state)) +
                    " and changed the mode " + std::to_string(changes) + " times: " + record.message);
  ++finished_;
  if (changed) ++committed_;
}

std::string operator_desk::describe() const {
  if (engine_ == nullptr) return "no transition";
  const auto record = engine_->record(at(database_.now));
  return "transition " + std::string(to_string(record.state)) + ": " + record.message;
}

} // namespace ledgergate::simulation
