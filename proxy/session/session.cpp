#include "proxy/session/session.hpp"

#include <utility>

#include "protocol/error_response.hpp"

namespace ledgergate::session {

session::session(std::uint64_t id, session_host& host)
    : id_(id), host_(host), client_(host.loop(), *this), server_(host.loop(), *this),
      relay_(client_, server_, host.tools(), *this), timer_(host.loop(), [this] { on_timer(); }),
      began_(net::event_loop::clock::now()) {}

session::~session() { host_.loop().forget(*this); }

void session::begin(net::unique_fd client, std::size_t listener) {
  choose_tls(listener);
  client_name_ = net::socket_address::peer_of(client.get()).to_text();
  if (!client_.adopt(std::move(client))) return over(session_result::client_lost);
  timer_.expire_after(host_.patience().client_startup);
}

void session::on_ready(net::stream_socket& socket) {
  switch (phase_) {
  case phase::relaying: return relay_on();
  case phase::starting: return read_startup();
  case phase::resolving:
  case phase::connecting:
    if (client_.peer_hung_up()) return over(session_result::client_lost);
    if (&socket == &server_) connector_->on_ready();
    return;
  case phase::ending: return continue_ending();
  case phase::abandoned: return discard(server_);
  case phase::over: return;
  }
}

void session::on_resume() { on_ready(server_); }

void session::relay_on() {
  const bool more = relay_.pump();
  if (!relay_.undisturbed()) [[unlikely]]
    handle_disturbance();
  if (phase_ != phase::relaying) return;
  if (more) host_.loop().resume_later(*this);
  if (draining_) [[unlikely]]
    drain_when_idle();
}

void session::on_timer() {
  switch (phase_) {
  case phase::starting: log().startup_timeout(client_name_); return over(session_result::startup_timeout);
  case phase::resolving:
    host_.shared().registry.upstream_failed("name resolution timed out");
    log().upstream_failed("name resolution timed out");
    return refuse(session_result::upstream_unreachable, "08006", "could not connect to upstream server");
  case phase::connecting: return;
  case phase::relaying: end_fate_ = net::examine_peer(client_); return relay_on();
  case phase::ending: return over(result_);
  case phase::abandoned: return order_cancel();
  case phase::over: return;
  }
}

void session::on_backend_key(std::string_view key) {
  backend_key_.assign(key);
  host_.shared().cancels.add(backend_key_, {server_address_, encrypted_}, client_name_);
}

void session::on_control_row(std::optional<std::uint64_t> writer) {
  if (phase_ != phase::relaying) return;
  relay_.on_control_row(writer);
  relay_on();
}

void session::on_catalog(bool current) {
  if (phase_ != phase::relaying) return;
  relay_.on_catalog(current);
  relay_on();
}

void session::use_rules(std::shared_ptr<const gate::gate_rules> rules) { relay_.use_rules(std::move(rules)); }

void session::on_note(const gate::note& what) {
  observe::worker_counters& counters = host_.tools().counters;
  switch (what.what) {
  case gate::note::kind::touched:
    if (!observe::logs(config::log_level::debug)) return;
    return observe::log(config::log_level::debug, describe() + ": " + to_string(what.touch) + " by " +
                                                      to_string(what.reason) + " " + what.name);
  case gate::note::kind::unparsed:
    counters.unparsed.add(what.label);
    if (!observe::logs(config::log_level::debug)) return;
    return observe::log(config::log_level::debug, describe() + ": touch by unparsed (" + what.label + ")");
  case gate::note::kind::pin_injected:
    counters.pins[static_cast<std::size_t>(what.shape)].add();
    // Of several pins on their way at once only the first is timed.
    if (!std::exchange(pin_timed_, true)) pin_began_ = net::event_loop::clock::now();
    if (!observe::logs(config::log_level::debug)) return;
    return observe::log(config::log_level::debug, describe() + ": pin sent by " + to_string(what.shape));
  case gate::note::kind::pin_failed: counters.pin_failures.add(what.sqlstate); [[fallthrough]];
  case gate::note::kind::pin_held:
    if (std::exchange(pin_timed_, false))
      counters.pin_wait.observe(net::event_loop::clock::now() - pin_began_);
    if (!observe::logs(config::log_level::debug)) return;
    return observe::log(config::log_level::debug,
                        describe() + (what.what == gate::note::kind::pin_held
                                          ? std::string(": pin held")
                                          : std::string(": pin failed with ") + what.sqlstate));
  case gate::note::kind::upgrade:
    counters.upgrades.add();
    return log().upgraded(
        describe() + ": a transaction that was pinned became a transition; two of these at once deadlock");
  case gate::note::kind::denied:
    counters.denied.add();
    return log().statement_refused(describe() + ": in-band transition denied");
  case gate::note::kind::refused:
    counters.refused.add(what.label);
    return log().statement_refused(describe() + ": statement refused: " + what.label);
  case gate::note::kind::stale:
    counters.stale.add();
    if (!observe::logs(config::log_level::debug)) return;
    return observe::log(config::log_level::debug,
                        describe() + ": 40001, its snapshot is older than the last transition");
  case gate::note::kind::hold_released: return;
  case gate::note::kind::catalog_changed: return host_.catalog_changed();
  case gate::note::kind::observed: return on_observed(what);
  case gate::note::kind::observed_end: return on_observed_end();
  case gate::note::kind::client_violation:
    violated_ = true;
    return log().protocol_violation(describe() + ": the client sent a message that makes no sense");
  }
}

void session::on_observed(const gate::note& what) {
  observe::touch_report* const report = host_.shared().observed;
  // A transaction of many statements: the first ones tell how long its pin would have lasted.
  constexpr std::size_t most = 100;
  if (report == nullptr) return;
  observe::observed_statement seen;
  seen.user = user_;
  seen.application = application_;
  seen.statement = what.text;
  seen.verdict = to_string(what.touch);
  seen.reason = to_string(what.reason);
  seen.name = what.name;
  const auto statement = report->add(std::move(seen));
  if (observed_.size() < most) observed_.push_back({statement, net::event_loop::clock::now()});
}

void session::on_observed_end() {
  const auto now = net::event_loop::clock::now();
  for (const observation& each : observed_)
    host_.shared().observed->over(each.statement,
                                  std::chrono::duration_cast<std::chrono::microseconds>(now - each.at));
  observed_.clear();
}

void session::begin_drain() {
  draining_ = true;
  switch (phase_) {
  case phase::starting:
    if (inbox_.empty()) return over(session_result::drained);
    [[fallthrough]];
  case phase::resolving:
  case phase::connecting: return refuse(session_result::drained, "57P03", "the proxy is shutting down");
  case phase::relaying: return drain_when_idle();
  case phase::ending:
  case phase::abandoned:
  case phase::over: return;
  }
}

void session::drain_when_idle() {
  if (!relay_.idle()) return;
  relay_.send_to_client(
      protocol::make_error_response("FATAL", "57P01", "terminating connection due to administrator command"));
  begin_ending(session_result::drained);
}

void session::end_now() {
  // Of a raw session only its being idle is known; a cancel for one that merely has a transaction open does
  // no harm.
  const bool at_work = relay_.is_raw() ? !relay_.idle() : relay_.replies_outstanding();
  if (phase_ == phase::relaying && at_work) return abandon(session_result::drained);
  if (phase_ != phase::abandoned) over(session_result::drained);
}

session_info session::info() const {
  session_info out;
  out.client = client_name_;
  out.user = user_;
  out.database = database_;
  out.gate = kind_ == gate::session_kind::gated     ? "gated"
             : kind_ == gate::session_kind::ungated ? "ungated"
                                                    : "replication";
  switch (phase_) {
  case phase::starting:
  case phase::resolving:
  case phase::connecting: out.state = "starting"; break;
  case phase::relaying: out.state = relay_.activity(); break;
  case phase::ending:
  case phase::abandoned:
  case phase::over: out.state = "ending"; break;
  }
  out.pinned = relay_.pinned();
  if (client_.tls() != nullptr && !greeting_) out.client_tls = client_.tls()->version();
  if (encrypted_ && server_.tls() != nullptr) out.server_tls = server_.tls()->version();
  if (!backend_key_.empty()) out.backend_pid = backend_pid_of(backend_key_);
  out.bytes_from_client = relay_.bytes_from_client();
  out.bytes_from_server = relay_.bytes_from_server();
  out.age = std::chrono::duration_cast<std::chrono::milliseconds>(net::event_loop::clock::now() - began_);
  return out;
}

std::string session::describe() const {
  return "session " + std::to_string(id_) + " (client " + client_name_ + ", user " + user_ + ", database " +
         database_ + ")";
}

} // namespace ledgergate::session
