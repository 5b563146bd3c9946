#include "tests/simulation/connection.hpp"

#include <algorithm>

#include "protocol/wire.hpp"

namespace ledgergate::simulation {

namespace {

constexpr virtual_time cancel_interval = 250 * one_millisecond;

std::string shown_messages(std::string_view bytes) {
  std::string out;
  while (bytes.size() >= 5) {
    // A piece may begin in the middle of a message: then what is shown makes no sense, and does no harm.
    const std::size_t length = std::size_t{protocol::load_int32(bytes.data() + 1)} + 1;
    const std::size_t total = std::clamp<std::size_t>(length, 5, bytes.size());
    out += " [" + shown(bytes[0], bytes.substr(5, total - 5)) + "]";
    bytes.remove_prefix(total);
  }
  return out;
}

} // namespace

connection::connection(model_database& database, witness& watcher, random_source& chance,
                       std::shared_ptr<const gate::gate_rules> rules, breakage broken, lock_holder id,
                       model_client::habits habits)
    : client(chance, id, habits), proxy(std::move(rules), broken), server(database, watcher, &chance, id),
      database_(database), chance_(chance), broken_(broken) {
  server.settings["default_transaction_isolation"] = habits.default_level;
}

std::string connection::some_of(pipe& from) {
  const std::size_t size = chance_.one_in(2) ? from.bytes.size() : chance_.between(1, from.bytes.size());
  std::string out = from.bytes.substr(0, size);
  from.bytes.erase(0, size);
  return out;
}

void connection::add_moves(std::vector<std::function<void()>>& moves) {
  const auto add = [&](void (connection::*what)()) { moves.emplace_back([this, what] { (this->*what)(); }); };
  if (!client_gone_ && client.wants_to_speak()) add(&connection::speak);
  const bool client_ended = client_proxy_.closed && !client_proxy_.ended && client_proxy_.bytes.empty();
  if (!client_gone_ && (!client_proxy_.bytes.empty() || client_ended)) add(&connection::client_to_proxy);
  const bool hung_up = proxy_server_.closed && !proxy_server_.ended;
  if (!proxy_server_.bytes.empty() || hung_up) add(&connection::proxy_to_server);
  if (server.runnable()) add(&connection::step_server);
  const bool server_ended = server_proxy_.closed && !server_proxy_.ended;
  if (!server_proxy_.bytes.empty() || server_ended || (!server.alive() && !server_proxy_.closed))
    add(&connection::server_to_proxy);
  const bool answers_ended = proxy_client_.closed && !proxy_client_.ended;
  if (!client_gone_ && (!proxy_client_.bytes.empty() || answers_ended)) add(&connection::proxy_to_client);
  if (proxy.question_open() && !client_gone_) add(&connection::answer_question);
  if (proxy.catalog_wanted() && !client_gone_) add(&connection::answer_catalog);
}

std::optional<virtual_time> connection::next_moment() const {
  const auto of_server = server.next_moment();
  if (!cancel_again_ || !of_server) return cancel_again_ ? cancel_again_ : of_server;
  return std::min(*cancel_again_, *of_server);
}

void connection::time() {
  server.time();
  if (!cancel_again_ || *cancel_again_ > database_.now) return;
  server.cancel();
  cancel_again_.reset();
  if (server.alive()) cancel_again_ = database_.now + cancel_interval;
}

void connection::speak() {
  const std::string bytes = client.speak();
  if (on_trace) trace("says" + shown_messages(bytes));
  client_proxy_.bytes += bytes;
  if (client.finished()) client_proxy_.closed = true;
}

void connection::collect_from_proxy() {
  const std::string server_bytes = proxy.take_to_server();
  const std::string client_bytes = proxy.take_to_client();
  if (on_trace && !server_bytes.empty()) trace("proxy to server" + shown_messages(server_bytes));
  if (on_trace && !client_bytes.empty()) trace("proxy to client" + shown_messages(client_bytes));
  if (!proxy_server_.closed) proxy_server_.bytes += server_bytes;
  proxy_client_.bytes += client_bytes;
  if (proxy.closed() == gate::close_reason::client_terminated) proxy_server_.closed = true;
}

void connection::client_to_proxy() {
  if (client_proxy_.bytes.empty()) {
    // The client closed its side behind Terminate; what it waits for in the proxy is of no use to anybody.
    client_proxy_.ended = true;
    if (proxy.closed() != gate::close_reason::client_terminated) lose_client();
    return;
  }
  proxy.from_client(some_of(client_proxy_));
  collect_from_proxy();
}

void connection::proxy_to_server() {
  if (!proxy_server_.bytes.empty()) {
    server.feed(some_of(proxy_server_));
    return;
  }
  proxy_server_.ended = true;
  server.end_of_input();
}

void connection::step_server() {
  server.step();
  server_proxy_.bytes += server.take_output();
}

void connection::server_to_proxy() {
  server_proxy_.bytes += server.take_output();
  if (!server.alive()) server_proxy_.closed = true;
  if (!server_proxy_.bytes.empty()) {
    proxy.from_server(some_of(server_proxy_));
    collect_from_proxy();
    return;
  }
  server_proxy_.ended = true;
  proxy_client_.closed = true;
}

void connection::proxy_to_client() {
  if (!proxy_client_.bytes.empty()) {
    client.hear(some_of(proxy_client_));
    return;
  }
  proxy_client_.ended = true;
  client.hear_end();
}

/// The control connection reads the row some time after it was asked; now and then it cannot.
void connection::answer_question() {
  if (chance_.one_in(12)) {
    trace("control row cannot be read");
    proxy.control_row(std::nullopt);
  } else {
    trace("control row was written by " + std::to_string(database_.mode_writer));
    proxy.control_row(database_.mode_writer);
  }
  collect_from_proxy();
}

/// Now and then the catalog cannot be read: then everything goes on being a touch.
void connection::answer_catalog() {
  const bool current = !chance_.one_in(8);
  if (current && read_catalog) read_catalog();
  proxy.catalog_read(current);
  collect_from_proxy();
}

void connection::lose_client() {
  if (client_gone_) return;
  client_gone_ = true;
  client.hear_end();
  if (proxy.engine().replies_outstanding()) {
    server.cancel();
    cancel_again_ = database_.now + cancel_interval;
  }
  proxy_server_.closed = true;
}

bool connection::over() const {
  const bool client_done = client_gone_ || client.lost() || client.finished();
  return client_done && !server.alive();
}

bool connection::compared_to_the_end() const {
  return client.finished() && !client.diverged() && !client_gone_ && client.answers_missing() == 0;
}

std::optional<std::string> connection::check() {
  if (client_gone_) return std::nullopt;
  if (proxy.closed() == gate::close_reason::server_protocol_violation)
    return "G6: the engine takes what the server says for nonsense";
  if (auto violation = client.take_violation()) return violation;
  return check_rest();
}

/// A session in which nothing is open or on its way holds what its client took itself, and nothing else.
std::optional<std::string> connection::check_rest() const {
  const bool quiet = client_proxy_.bytes.empty() && proxy_server_.bytes.empty() &&
                     server_proxy_.bytes.empty() && proxy_client_.bytes.empty() && proxy.at_rest() &&
                     server.alive() && server.idle();
  if (!quiet || client.finished() || !client.answered() || client.letter() != 'I') return std::nullopt;
  if (proxy.engine().replies_outstanding()) return std::nullopt;
  const bool holds = database_.locks.holds_anything(server.id());
  if (client.diverged()) {
    if (holds && !client.used_own_locks()) return "G4: a lock is held by a session that is idle";
    return std::nullopt;
  }
  const bool own = client.own_server().locks.holds_anything(1);
  if (holds && !own) return "G4: a lock is held by a session that is idle";
  if (!holds && own) return "G6: the client's own lock is gone";
  return std::nullopt;
}

std::string connection::describe() const {
  std::string out =
      name() + (client_gone_ ? " (client gone)" : "") + ": client " +
      (client.answered()
           ? "answered"
           : "waits for " + std::to_string(client.answers_missing()) + " " + client.next_answer()) +
      (client.diverged() ? ", diverged" : "") + ", letter " + client.letter() + ", engine " +
      (proxy.engine().client_paused() ? "paused" : "reads") + " " + proxy.engine().transaction_status() +
      (proxy.engine().pinned() ? " pinned" : "") + ", server " + (server.alive() ? "" : "gone ") +
      server.letter() + (server.waiting_for_lock() ? " waits for a lock" : "");
  if (proxy.question_open()) out += ", control row asked for";
  if (proxy.catalog_wanted()) out += ", catalog asked for";
  return out;
}

} // namespace ledgergate::simulation
