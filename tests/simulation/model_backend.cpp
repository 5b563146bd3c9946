#include "tests/simulation/model_backend.hpp"

#include <utility>

#include "protocol/error_response.hpp"
#include "protocol/message_writer.hpp"
#include "protocol/tags.hpp"
#include "tests/simulation/model_awaiters.hpp"

namespace ledgergate::simulation {

namespace backend = protocol::backend;
namespace frontend = protocol::frontend;

model_backend::model_backend(model_database& database, server_watcher& watcher, random_source* chance,
                             lock_holder id)
    : database_(database), watcher_(watcher), chance_(chance), id_(id) {
  settings = {{"default_transaction_isolation", "read committed"},
              {"application_name", ""},
              {"lock_timeout", "0"},
              {"deadlock_timeout", "1000"}};
  database_.backends[id_];
  main_ = run();
  resume_ = main_.handle();
  step();
}

model_backend::~model_backend() {
  if (alive_) stop({});
}

bool model_backend::message_ready() const {
  if (input_.size() < protocol::header_bytes) return false;
  return input_.size() >= 1 + protocol::load_int32(input_.data() + 1);
}

bool model_backend::runnable() const {
  if (!alive_) return false;
  switch (state_) {
  case doing::reading: return message_ready() || input_over_;
  case doing::thinking: return true;
  case doing::locking: return wait_end_ != wait_end::none || !database_.locks.waits_for(id_);
  }
  return false;
}

void model_backend::step() {
  if (state_ == doing::reading && input_over_ && !message_ready()) {
    stop({});
    return;
  }
  state_ = doing::thinking;
  const std::coroutine_handle<> here = resume_;
  here.resume();
  if (alive_ && main_.done()) stop({});
  if (alive_) {
    backend_facts& facts = database_.backends[id_];
    facts.in_transaction = block_ != block::none;
    facts.idle = state_ == doing::reading;
  }
}

void model_backend::cancel() {
  if (!alive_ || state_ == doing::reading) return;
  cancelled_ = true;
  if (state_ == doing::locking && database_.locks.waits_for(id_)) {
    database_.locks.give_up(id_);
    wait_end_ = wait_end::cancelled;
  }
}

void model_backend::terminate() {
  if (!alive_) return;
  stop(
      protocol::make_error_response("FATAL", "57P01", "terminating connection due to administrator command"));
}

/// The backend ends: what it holds is free, what it has not flushed is lost but for its last words.
void model_backend::stop(std::string_view words) {
  database_.locks.give_up(id_);
  if (block_ != block::none && !transaction_.over) {
    watcher_.transaction_over(id_);
    if (transaction_.id != 0) database_.running.erase(transaction_.id);
  }
  database_.locks.end_transaction(id_);
  database_.locks.release_session_locks(id_);
  database_.backends.erase(id_);
  output_.append(words);
  alive_ = false;
}

std::optional<virtual_time> model_backend::next_moment() const {
  if (!alive_ || state_ != doing::locking || !database_.locks.waits_for(id_)) return std::nullopt;
  if (!deadlock_look_) return lock_deadline_;
  return lock_deadline_ ? std::min(*deadlock_look_, *lock_deadline_) : *deadlock_look_;
}

void model_backend::time() {
  if (!alive_ || state_ != doing::locking || !database_.locks.waits_for(id_)) return;
  if (deadlock_look_ && *deadlock_look_ <= database_.now) {
    deadlock_look_.reset();
    database_.locks.check_deadlock(id_);
    return;
  }
  if (lock_deadline_ && *lock_deadline_ <= database_.now) {
    database_.locks.give_up(id_);
    wait_end_ = wait_end::timed_out;
  }
}

char model_backend::letter() const {
  if (block_ == block::failed) return 'E';
  return block_ == block::open ? 'T' : 'I';
}

void model_backend::send(char tag, std::string_view body) {
  protocol::message_writer message(unflushed_, tag);
  unflushed_.append(body);
  message.finish();
  if (chance_ == nullptr || chance_->one_in(4)) flush();
}

void model_backend::flush() {
  output_ += unflushed_;
  unflushed_.clear();
}

void model_backend::send_notice(std::string_view sqlstate, std::string_view message) {
  std::string notice = protocol::make_error_response("WARNING", sqlstate, message);
  send(backend::notice_response, std::string_view(notice).substr(protocol::header_bytes));
  flush();
}

void model_backend::send_row(const std::vector<std::optional<std::string>>& columns) {
  std::string body;
  protocol::append_int16(body, static_cast<std::uint16_t>(columns.size()));
  for (const auto& column : columns) {
    protocol::append_int32(body, column ? static_cast<std::uint32_t>(column->size()) : 0xffffffffU);
    if (column) body += *column;
  }
  send(backend::data_row, body);
}

void model_backend::send_row_description(std::size_t columns) {
  std::string body;
  protocol::append_int16(body, static_cast<std::uint16_t>(columns));
  for (std::size_t i = 0; i < columns; ++i)
    body.append("a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0", 20);
  send(backend::row_description, body);
}

void model_backend::complete(const std::string& tag) { send(backend::command_complete, tag + '\0'); }

void model_backend::ready() {
  const std::string& name = settings["application_name"];
  if (name != reported_application_name_) {
    send(backend::parameter_status, std::string("application_name") + '\0' + name + '\0');
    reported_application_name_ = name;
  }
  const char state = letter();
  send(backend::ready_for_query, std::string_view(&state, 1));
  flush();
}

/// A statement failed: the error goes out, and what it did is undone.
void model_backend::fail(const model_error& error) {
  cancelled_ = false;
  const std::string words = protocol::make_error_response("ERROR", error.sqlstate, error.message);
  send(backend::error_response, std::string_view(words).substr(protocol::header_bytes));
  flush(); // errors and notices leave at once (send_message_to_frontend)
  abort_command();
  if (extended_message_) skipping_ = true;
}

model_backend::incoming model_backend::take_message() {
  const std::size_t total = 1 + protocol::load_int32(input_.data() + 1);
  incoming out{input_[0], input_.substr(protocol::header_bytes, total - protocol::header_bytes)};
  input_.erase(0, total);
  return out;
}

task<int> model_backend::run() {
  for (;;) {
    next_message reading{*this};
    incoming message = co_await reading;
    if (message.tag == frontend::terminate) co_return 0;
    extended_message_ = message.tag == frontend::parse || message.tag == frontend::bind ||
                        message.tag == frontend::execute || message.tag == frontend::describe ||
                        message.tag == frontend::close;
    if (message.tag == frontend::sync) skipping_ = false;
    if (skipping_) continue;
    cancelled_ = false;
    co_await handle(std::move(message));
    if (!alive_) co_return 0;
  }
}

task<int> model_backend::handle(incoming message) {
  outcome error;
  switch (message.tag) {
  case frontend::query: error = co_await simple_query(std::string(message.body.c_str())); break;
  case frontend::function_call: error = co_await function_call(message.body); break;
  case frontend::sync: error = finish_command(); break;
  case frontend::flush: flush(); co_return 0;
  case frontend::copy_data:
  case frontend::copy_done:
  case frontend::copy_fail: co_return 0; // of a COPY that failed
  default: error = co_await extended(message); break;
  }
  if (error) fail(*error);
  if (out_of_step_) {
    stop(protocol::make_error_response("FATAL", "08P01",
                                       "terminating connection because protocol synchronization was lost"));
    co_return 0;
  }
  if (!extended_message_) ready();
  co_return 0;
}

} // namespace ledgergate::simulation
