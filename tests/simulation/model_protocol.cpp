// The two protocols of the model server: exec_simple_query, HandleFunctionRequest and the messages of the
// extended protocol in postgres.c.
#include <algorithm>

#include "protocol/frontend_message.hpp"
#include "protocol/reader.hpp"
#include "protocol/tags.hpp"
#include "tests/simulation/model_awaiters.hpp"

namespace ledgergate::simulation {

namespace backend = protocol::backend;

namespace {

const model_error failed_block{"25P02", "current transaction is aborted"};

void append_int64(std::string& out, std::uint64_t value) {
  protocol::append_int64(out, static_cast<std::int64_t>(value));
}

/// pg_snapshot in binary form: Int32 count, Int64 xmin, Int64 xmax, Int64 each running transaction.
std::string snapshot_bytes(const model_snapshot& what) {
  std::string out;
  protocol::append_int32(out, static_cast<std::uint32_t>(what.running.size()));
  append_int64(out, what.xmin);
  append_int64(out, what.xmax);
  for (const std::uint64_t id : what.running)
    append_int64(out, id);
  return out;
}

} // namespace

task<outcome> model_backend::simple_query(std::string text) {
  start_command();
  statements_.erase("");
  const auto parts = read_text(text);
  if (!parts) co_return model_error{"42601", "syntax error"};
  if (parts->empty()) {
    send(backend::empty_query_response);
    co_return finish_command();
  }
  const bool several = parts->size() > 1;
  describe_rows_ = true;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const outcome error = co_await run_simple_statement((*parts)[i], several, i + 1 == parts->size());
    if (error) co_return error;
  }
  co_return finish_command();
}

task<outcome> model_backend::run_simple_statement(statement_pointer statement, bool several, bool last) {
  if (block_ == block::failed && !statement->leaves_transaction()) co_return failed_block;
  start_command();
  if (several && block_ == block::started) block_ = block::implicit;
  pause here{*this};
  outcome error = co_await here;
  if (error) co_return error;
  if (statement->parameter && describe_rows_) co_return model_error{"42P02", "there is no parameter $1"};
  if (statement->fails == failure::analysis) co_return model_error{"42703", "column does not exist"};
  if (statement->analysis_takes_snapshot()) (void)take_snapshot();
  if (statement->fails == failure::planning) co_return model_error{"22012", "division by zero"};
  error = co_await run_statement(statement, std::nullopt, several);
  if (error) co_return error;
  const std::string tag = tag_;
  if (last && block_ == block::implicit && ending_ == ending::none) block_ = block::started;
  if (last || statement->is_transaction_control()) error = finish_command();
  if (!error) complete(tag);
  co_return error;
}

/// FunctionCall: Int32 function, formats, arguments, result format.
task<outcome> model_backend::function_call(std::string body) {
  protocol::reader in(body);
  const std::uint32_t function = in.int32();
  const std::uint16_t formats = in.int16();
  in.skip(std::size_t{2} * formats);
  std::string argument;
  if (in.int16() > 0) argument.assign(in.rest().substr(4, protocol::load_int32(in.rest().data())));
  start_command();
  if (block_ == block::failed) co_return failed_block;
  pause here{*this};
  outcome error = co_await here;
  if (error) co_return error;
  const model_snapshot snapshot = take_snapshot();
  if (function == touching_function) {
    model_statement called;
    called.looks = true;
    look(called, snapshot);
    error = co_await here;
    if (error) co_return error;
  } else if (function == 0 || function >= 16384) {
    co_return model_error{"42883", "function does not exist"};
  }

  std::string result;
  lock_key key = 0;
  if (argument.size() == 8) {
    key = static_cast<lock_key>((std::uint64_t{protocol::load_int32(argument.data())} << 32U) |
                                protocol::load_int32(argument.data() + 4));
  }
  const bool unlock = function == 2884 || function == 2885;
  const bool lock = function == 2880 || function == 2881 || function == 3089 || function == 3090;
  const bool shared = function == 2881 || function == 2885 || function == 3090;
  const lock_mode mode = shared ? lock_mode::shared : lock_mode::exclusive;
  if (lock) {
    error = co_await acquire(key, mode, function < 3000 ? session_owner : depth());
    if (error) co_return error;
  } else if (unlock) {
    const bool owned = database_.locks.release_session_lock(id_, key, mode);
    if (!owned) send_notice("01000", "you don't own a lock of type ..");
    result.assign(1, owned ? '\1' : '\0');
  } else if (function == 5061) {
    result = snapshot_bytes(snapshot);
  } else if (argument == "default_transaction_isolation") {
    result = settings["default_transaction_isolation"];
  } else if (argument == "transaction_isolation") {
    result = transaction_.level == isolation::read_committed ? "read committed" : "repeatable read";
  } else if (argument == "transaction_read_only") {
    result = transaction_.read_only ? "on" : "off";
  }
  std::string answer;
  protocol::append_int32(answer, static_cast<std::uint32_t>(result.size()));
  send(backend::function_call_response, answer + result);
  co_return finish_command();
}

task<outcome> model_backend::extended(incoming message) {
  describe_rows_ = false;
  outcome error;
  switch (message.tag) {
  case protocol::frontend::parse: error = parse(message.body); break;
  case protocol::frontend::bind: error = co_await bind(message.body); break;
  case protocol::frontend::execute: error = co_await execute(message.body); break;
  case protocol::frontend::describe: error = describe(message.body); break;
  case protocol::frontend::close: close(message.body); break;
  default: error = model_error{"08P01", "invalid frontend message type"}; break;
  }
  co_return error;
}

outcome model_backend::parse(const std::string& body) {
  const auto what = protocol::decode_parse(body);
  if (!what) return model_error{"08P01", "invalid message format"};
  start_command();
  if (what->statement.empty()) statements_.erase("");
  const auto parts = read_text(what->query);
  if (!parts) return model_error{"42601", "syntax error"};
  if (parts->size() > 1)
    return model_error{"42601", "cannot insert multiple commands into a prepared statement"};
  const statement_pointer statement = parts->empty() ? nullptr : parts->front();
  if (statement != nullptr) {
    if (block_ == block::failed && !statement->leaves_transaction()) return failed_block;
    const bool data = statement->what == verb::select || statement->what == verb::modify;
    if (data && statement->fails == failure::analysis) return model_error{"42703", "column does not exist"};
    const bool reads_view = data && !statement->view.empty();
    if (reads_view && !view_leads(statement->view)) return model_error{"42P01", "relation does not exist"};
    if (statement->analysis_takes_snapshot()) (void)take_snapshot();
  }
  const std::string name(what->statement.substr(0, 63));
  if (!name.empty() && statements_.contains(name))
    return model_error{"42P05", "prepared statement already exists"};
  statements_[name] = {statement, false};
  send(backend::parse_complete);
  return std::nullopt;
}

task<outcome> model_backend::bind(std::string body) {
  const auto what = protocol::decode_bind(body);
  if (!what) co_return model_error{"08P01", "invalid message format"};
  const auto found = statements_.find(std::string(what->statement.substr(0, 63)));
  if (found == statements_.end()) co_return model_error{"26000", "prepared statement does not exist"};
  const statement_pointer statement = found->second.statement;
  start_command();
  if (block_ == block::failed && (statement == nullptr || !statement->leaves_transaction()))
    co_return failed_block;
  const std::string name(what->portal);
  if (!name.empty() && portals_.contains(name)) co_return model_error{"42P03", "cursor already exists"};
  pause here{*this};
  const outcome error = co_await here;
  if (error) co_return error;
  portal made;
  made.statement = statement;
  if (statement != nullptr) {
    if (statement->fails == failure::planning) co_return model_error{"22012", "division by zero"};
    if (statement->analysis_takes_snapshot()) {
      const model_snapshot snapshot = take_snapshot();
      if (statement->what == verb::select) made.snapshot = snapshot; // F4
    }
  }
  portals_[name] = made;
  send(backend::bind_complete);
  co_return std::nullopt;
}

task<outcome> model_backend::execute(std::string body) {
  protocol::reader in(body);
  const std::string name(in.cstring());
  const std::uint32_t limit = in.int32();
  const auto found = portals_.find(name);
  if (found == portals_.end()) co_return model_error{"34000", "portal does not exist"};
  const statement_pointer statement = found->second.statement;
  if (statement == nullptr) {
    send(backend::empty_query_response);
    co_return std::nullopt;
  }
  start_command();
  if (block_ == block::failed && !statement->leaves_transaction()) co_return failed_block;
  const outcome error = co_await execute_portal(name, limit);
  co_return error;
}

task<outcome> model_backend::execute_portal(std::string name, unsigned limit) {
  portal& what = portals_[name];
  const statement_pointer statement = what.statement;
  if (statement->what == verb::select && what.snapshot && statement->rows > 1) {
    look(*statement, *what.snapshot);
    const unsigned rest = statement->rows - what.sent;
    const unsigned now = limit == 0 ? rest : std::min(limit, rest);
    for (unsigned i = 0; i < now; ++i)
      send_row({"1"});
    what.sent += now;
    if (limit != 0 && now == limit) {
      send(backend::portal_suspended);
    } else {
      complete("SELECT " + std::to_string(now));
      transaction_.pipelined = true;
    }
    co_return std::nullopt;
  }
  if (what.done) co_return model_error{"55000", "portal cannot be run"};
  what.done = true;
  outcome error = co_await run_statement(statement, what.snapshot, false);
  if (error) co_return error;
  const bool at_once = statement->is_transaction_control() || statement->what == verb::discard_all;
  if (at_once) {
    const std::string tag = tag_;
    error = finish_command();
    if (!error) complete(tag);
    co_return error;
  }
  transaction_.pipelined = true;
  complete(tag_);
  co_return std::nullopt;
}

outcome model_backend::describe(const std::string& body) {
  const auto what = protocol::decode_target(body);
  if (!what) return model_error{"08P01", "invalid message format"};
  statement_pointer statement;
  start_command();
  if (what->target == 'S') {
    const auto found = statements_.find(std::string(what->name.substr(0, 63)));
    if (found == statements_.end()) return model_error{"26000", "prepared statement does not exist"};
    statement = found->second.statement;
  } else {
    const auto found = portals_.find(std::string(what->name));
    if (found == portals_.end()) return model_error{"34000", "portal does not exist"};
    statement = found->second.statement;
  }
  const bool rows = statement != nullptr && rows_of(*statement) != nullptr;
  if (block_ == block::failed && rows) return failed_block;
  if (what->target == 'S') send(backend::parameter_description, std::string_view("\0\0", 2));
  rows ? send_row_description(1) : send(backend::no_data);
  return std::nullopt;
}

void model_backend::close(const std::string& body) {
  const auto what = protocol::decode_target(body);
  start_command();
  if (what && what->target == 'S') statements_.erase(std::string(what->name.substr(0, 63)));
  if (what && what->target == 'P') portals_.erase(std::string(what->name));
  send(backend::close_complete);
}

} // namespace ledgergate::simulation
