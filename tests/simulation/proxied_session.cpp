#include "tests/simulation/proxied_session.hpp"

#include <utility>

#include "protocol/error_response.hpp"
#include "protocol/frontend_message.hpp"
#include "tests/simulation/model_statement.hpp"

namespace ledgergate::simulation {

namespace {

constexpr lock_key other_key = 1263879999;

void replace_all(std::string& bytes, const std::string& what, const std::string& by) {
  for (std::size_t at = bytes.find(what); at != std::string::npos; at = bytes.find(what, at + by.size()))
    bytes.replace(at, what.size(), by);
}

} // namespace

const char* to_string(breakage broken) {
  switch (broken) {
  case breakage::none: return "none";
  case breakage::wrong_key: return "wrong_key";
  case breakage::observes_only: return "observes_only";
  case breakage::no_session_hold: return "no_session_hold";
  case breakage::no_release: return "no_release";
  case breakage::reply_let_out: return "reply_let_out";
  case breakage::reply_lost: return "reply_lost";
  case breakage::proof_always_true: return "proof_always_true";
  case breakage::shared_transition: return "shared_transition";
  }
  return "";
}

proxied_session::proxied_session(std::shared_ptr<const gate::gate_rules> rules, breakage broken)
    : broken_(broken), engine_(std::move(rules), gate::session_kind::gated, counters_) {
  from_server(protocol::make_ready_for_query('I'));
  to_client_.clear(); // start-up is over for the client as well
}

void proxied_session::from_client(std::string_view bytes) {
  from_client_.append(bytes);
  offer_client();
}

void proxied_session::offer_client() {
  for (bool again = true; again && closed_ == gate::close_reason::none;) {
    gate::actions out;
    const std::size_t taken = engine_.on_client_bytes(from_client_, out);
    carry_out(out, 0);
    from_client_.erase(0, taken);
    again = out.resume_client;
  }
}

void proxied_session::from_server(std::string_view bytes) {
  from_server_.append(bytes);
  gate::actions out;
  const std::size_t taken = engine_.on_server_bytes(from_server_, out);
  carry_out(out, taken);
  from_server_.erase(0, taken);
  if (out.resume_client) offer_client();
}

void proxied_session::control_row(std::optional<std::uint64_t> writer) {
  question_open_ = false;
  if (broken_ == breakage::proof_always_true) writer = 1;
  gate::actions out;
  engine_.on_control_row(writer, out);
  carry_out(out, 0);
  if (out.resume_client) offer_client();
}

void proxied_session::catalog_read(bool current) {
  catalog_wanted_ = false;
  gate::actions out;
  engine_.on_catalog(current, out);
  carry_out(out, 0);
  if (out.resume_client) offer_client();
}

void proxied_session::carry_out(const gate::actions& out, std::size_t consumed_of_server) {
  std::string server, client;
  for (std::size_t i = 0; i < out.to_server.piece_count(); ++i)
    server.append(out.to_server.piece_at(i).data, out.to_server.piece_at(i).size);
  for (std::size_t i = 0; i < out.to_client.piece_count(); ++i)
    client.append(out.to_client.piece_at(i).data, out.to_client.piece_at(i).size);
  const bool swallowed = client.size() < consumed_of_server;
  to_server_ += broken_to_server(std::move(server));
  to_client_ += broken_to_client(std::move(client), swallowed);
  question_open_ = question_open_ || out.ask_control_row;
  catalog_wanted_ = catalog_wanted_ || out.refresh_catalog;
  if (out.close != gate::close_reason::none) closed_ = out.close;
}

std::string proxied_session::broken_to_server(std::string bytes) const {
  const auto call = [](std::uint32_t function, lock_key key) {
    return protocol::make_function_call(function, key);
  };
  switch (broken_) {
  case breakage::no_session_hold:
    replace_all(bytes, call(2881, gate_key), call(2881, other_key));
    replace_all(bytes, "pg_advisory_lock_shared('1263879245'", "pg_advisory_lock_shared('1263879999'");
    break;
  case breakage::no_release: replace_all(bytes, call(2885, gate_key), call(2885, other_key)); break;
  case breakage::shared_transition:
    replace_all(bytes, call(3089, gate_key), call(3090, gate_key));
    replace_all(bytes, call(2880, gate_key), call(2881, gate_key));
    break;
  case breakage::none:
  case breakage::wrong_key:
  case breakage::observes_only:
  case breakage::reply_let_out:
  case breakage::reply_lost:
  case breakage::proof_always_true: break;
  }
  return bytes;
}

std::string proxied_session::broken_to_client(std::string bytes, bool swallowed) {
  if (broke_) return bytes;
  if (broken_ == breakage::reply_let_out && swallowed) {
    broke_ = true;
    bytes.append("3\0\0\0\4", 5);
  }
  if (broken_ == breakage::reply_lost && bytes.size() > protocol::make_ready_for_query('I').size()) {
    broke_ = true;
    bytes.clear();
  }
  return bytes;
}

} // namespace ledgergate::simulation
