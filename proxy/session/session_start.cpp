// From the first byte to the connected server.
#include <algorithm>
#include <utility>

#include "protocol/error_response.hpp"
#include "proxy/session/session.hpp"

namespace ledgergate::session {

namespace {

/// The server cuts longer names of databases and users to this many bytes (NAMEDATALEN - 1).
constexpr std::size_t max_name_bytes = 63;

/// How the server reads the value of `replication`: `database`, or a boolean in any of its spellings.
bool is_true(std::string_view value) {
  std::string lower(value);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto abbreviates = [&](std::string_view word) { return !lower.empty() && word.starts_with(lower); };
  return abbreviates("true") || abbreviates("yes") || lower == "on" || lower == "1";
}

} // namespace

void session::read_startup() {
  if (greeting_) return greet();
  while (phase_ == phase::starting && client_.can_read()) {
    const net::io_result result = client_.read(host_.tools().scratch);
    switch (result.status) {
    case net::io_status::ok: break;
    case net::io_status::would_block: return;
    case net::io_status::end:
    case net::io_status::failed: return startup_ended();
    }
    inbox_.append({host_.tools().scratch.data(), result.bytes});
    read_startup_step();
    if (greeting_) return greet();
  }
}

void session::read_startup_step() {
  while (phase_ == phase::starting && !greeting_) {
    const startup_step step = dialogue_.next(inbox_.view());
    if (step.what == startup_step::kind::need_more) return;
    take_startup_step(step);
  }
}

void session::take_startup_step(const startup_step& step) {
  switch (step.what) {
  case startup_step::kind::need_more: return;
  case startup_step::kind::answer: inbox_.consume(step.consumed); return relay_.send_to_client(step.reply);
  case startup_step::kind::begin_tls:
    inbox_.consume(step.consumed);
    relay_.send_to_client(step.reply);
    return begin_tls({});
  case startup_step::kind::direct_tls:
    direct_tls_ = true;
    begin_tls(inbox_.view());
    return inbox_.clear();
  case startup_step::kind::startup: return begin_connect(step);
  case startup_step::kind::cancel: {
    // No answer to a cancel request, only the end of its own connection.
    const auto target = host_.shared().cancels.find(std::string(step.packet.substr(8)));
    if (target) host_.order_cancel({std::string(step.packet), *target, client_.release()});
    return over(session_result::cancel_request);
  }
  case startup_step::kind::refuse:
    log().startup_refused(client_name_, step.reason);
    relay_.send_to_client(step.reply);
    return begin_ending(session_result::startup_refused);
  case startup_step::kind::close:
    log().startup_refused(client_name_, step.reason);
    return over(session_result::startup_refused);
  }
}

/// The client left before it said who it is. Port probes do that all day: nothing above debug.
void session::startup_ended() {
  const bool silent = inbox_.empty();
  if (!silent && observe::logs(config::log_level::debug)) {
    observe::log(config::log_level::debug, "client " + client_name_ + " left within its start-up packet");
  }
  over(silent ? session_result::probe : session_result::startup_refused);
}

gate::session_kind session::kind_of(const protocol::startup_packet& startup) const {
  const auto& rules = *host_.rules();
  const std::string_view database = startup.database.substr(0, max_name_bytes);
  // Another protocol version than 3 names its database elsewhere. A server that speaks it is not known to us:
  // fail closed.
  const bool readable = (startup.version >> 16U) == 3;
  if (rules.mode == config::gate_mode::off) return gate::session_kind::ungated;
  if (readable && database != host_.shared().settings->gate.database) return gate::session_kind::ungated;
  if (startup.replication == "database") return gate::session_kind::replication;
  return is_true(startup.replication) ? gate::session_kind::ungated : gate::session_kind::gated;
}

void session::begin_connect(const startup_step& step) {
  timer_.cancel();
  startup_packet_.assign(step.packet);
  user_.assign(step.decoded.user.substr(0, max_name_bytes));
  database_.assign(step.decoded.database.substr(0, max_name_bytes));
  application_.assign(step.decoded.application.substr(0, max_name_bytes));
  kind_ = kind_of(step.decoded);
  inbox_.consume(step.consumed);
  const services& shared = host_.shared();
  if (draining_) return refuse(session_result::drained, "57P03", "the proxy is shutting down");
  if (!shared.registry.admit()) {
    log().too_many_clients(client_name_);
    return refuse(session_result::too_many_clients, "53300", "sorry, too many clients already");
  }
  admitted_ = true;
  if (kind_ == gate::session_kind::ungated) shared.registry.count_ungated();
  connect_deadline_ = net::event_loop::clock::now() + host_.patience().connect;
  if (shared.upstream.is_literal()) return connect(shared.upstream.literal_addresses());
  phase_ = phase::resolving;
  timer_.expire_after(host_.patience().connect);
  host_.resolve_upstream(id_);
}

void session::on_addresses(const net::resolution& found) {
  if (phase_ != phase::resolving) return;
  timer_.cancel();
  if (!found.failures.empty()) log().upstream_failed(found.failures);
  connect(found.addresses);
}

void session::connect(std::vector<net::socket_address> addresses) {
  phase_ = phase::connecting;
  connector_ = std::make_unique<upstream_connector>(
      host_.loop(), server_, [this](connect_outcome outcome) { on_connected(outcome); });
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(connect_deadline_ - net::event_loop::clock::now());
  connector_->start(std::move(addresses), left, encryption());
}

void session::on_connected(connect_outcome outcome) {
  const services& shared = host_.shared();
  if (outcome == connect_outcome::no_descriptor) {
    log().too_many_clients(client_name_ + " (out of descriptors)");
    return refuse(session_result::too_many_clients, "53300", "sorry, too many clients already");
  }
  if (outcome == connect_outcome::failed) {
    const std::string& why = connector_->failures();
    shared.registry.upstream_failed(why.empty() ? "no address" : why);
    log().upstream_failed(why.empty() ? "no address" : why);
    return refuse(session_result::upstream_unreachable, "08006", "could not connect to upstream server");
  }
  shared.registry.upstream_connected();
  server_address_ = connector_->address();
  host_.loop().dispose(std::move(connector_));
  phase_ = phase::relaying;
  watch_offer();
  relay_.send_to_server(startup_packet_);
  std::string().swap(startup_packet_);
  auto engine =
      std::make_unique<gate::session_engine>(host_.rules(), kind_, host_.tools().counters.statements);
  relay_.start(std::move(engine), inbox_.view());
  inbox_.clear();
  relay_on();
}

/// An error of the proxy's own in place of a session. It holds no detail of the configuration: who is not
/// logged in learns nothing.
void session::refuse(session_result result, std::string_view sqlstate, std::string_view message) {
  relay_.send_to_client(protocol::make_error_response("FATAL", sqlstate, message));
  begin_ending(result);
}

} // namespace ledgergate::session
