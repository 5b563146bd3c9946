#include "proxy/session/relay.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

namespace ledgergate::session {

namespace {

/// Bursts per direction before other sessions of the worker have their turn.
constexpr int bursts_per_turn = 16;
/// One burst in so many is timed.
constexpr unsigned latency_sampling = 64;
constexpr std::size_t pieces_per_call = 64;
/// ReadyForQuery with the state letter `I`.
constexpr std::string_view idle_message{"Z\0\0\0\5I", 6};

constexpr std::string_view terminate_message{"X\0\0\0\4", 5};

} // namespace

relay::relay(net::stream_socket& client, net::stream_socket& server, relay_tools& tools,
             relay_observer& observer)
    : client_{client}, server_{server}, tools_(tools), observer_(observer) {}

void relay::start(std::unique_ptr<gate::session_engine> engine, std::string_view early) {
  engine_ = std::move(engine);
  if (!early.empty()) accept_kept(client_, early);
}

template <typename Answer>
void relay::answer_engine(void (gate::session_engine::*method)(Answer, gate::actions&), Answer answer) {
  if (engine_ == nullptr) return;
  tools_.actions.clear();
  (engine_.get()->*method)(answer, tools_.actions);
  bool resume_client = false;
  carry_out(resume_client);
  if (resume_client) offer_kept(client_);
}

void relay::on_control_row(std::optional<std::uint64_t> writer) {
  answer_engine(&gate::session_engine::on_control_row, writer);
}

void relay::on_catalog(bool current) { answer_engine(&gate::session_engine::on_catalog, current); }

void relay::use_rules(std::shared_ptr<const gate::gate_rules> rules) {
  if (engine_ != nullptr) engine_->use_rules(std::move(rules));
}

bool relay::pump() {
  for (int burst = 0; burst < bursts_per_turn; ++burst) {
    flush(client_);
    flush(server_);
    const bool moved = take(client_) | take(server_);
    if (!moved || close_reason_ != gate::close_reason::none) return false;
  }
  return true;
}

bool relay::undisturbed() const {
  return !client_ended() && !server_.ended && !server_.broken && close_reason_ == gate::close_reason::none &&
         !offer_refused();
}

bool relay::client_terminated() const {
  return terminated_ || client_.unread.view().ends_with(terminate_message);
}

bool relay::idle() const {
  if (!client_.unread.empty() || !client_.unsent.empty() || !server_.unread.empty() ||
      !server_.unsent.empty()) {
    return false;
  }
  if (engine_ == nullptr) return raw_idle_;
  return engine_->transaction_status() == 'I' && !engine_->replies_outstanding();
}

const char* relay::activity() const {
  if (engine_ == nullptr) return "relayed";
  if (engine_->client_paused()) return "waiting for the server";
  if (engine_->replies_outstanding()) return engine_->awaits_client() ? "waiting for the client" : "active";
  switch (engine_->transaction_status()) {
  case 'I': return "idle";
  case 'T': return "in transaction";
  case 'E': return "in failed transaction";
  default: return "starting";
  }
}

bool relay::flush(side& to) {
  if (to.unsent.empty() || !to.socket.can_write()) return false;
  const net::io_result result = to.socket.write(to.unsent.view());
  if (result.status == net::io_status::failed) {
    to.broken = true;
    to.unsent.clear();
    return false;
  }
  to.unsent.consume(result.bytes);
  return result.bytes > 0;
}

void relay::flush_client() { flush(client_); }

/// One burst from one side. False: nothing could be moved.
bool relay::take(side& from) {
  if (!from.socket.can_read() || from.ended) return false;
  const side& to = other(from);
  // What the other side has not taken yet comes first; until then this side's bytes stay in the kernel.
  if (!to.flushed() || to.broken) return false;
  // A server that takes nothing any more may still have last words; a client that reads nothing any more is
  // lost.
  if (is_client(from) && (from.broken || terminated_ || (engine_ != nullptr && engine_->client_paused())))
    return false;
  if ((++tools_.bursts % latency_sampling) != 0) return receive(from);
  const auto began = std::chrono::steady_clock::now();
  const bool moved = receive(from);
  if (moved) tools_.counters.added_latency.observe(std::chrono::steady_clock::now() - began);
  return moved;
}

bool relay::receive(side& from) {
  // Kept bytes are put in front of the fresh ones, so that the engine sees them in one piece. A long
  // unfinished message is not moved about like that: it grows where it is kept.
  const std::size_t kept = from.unread.size();
  const bool joins = kept <= tools_.scratch.size() / 4;
  const std::size_t offset = joins ? kept : 0;
  if (offset > 0) std::memcpy(tools_.scratch.data(), from.unread.view().data(), offset);
  const net::io_result result = from.socket.read(tools_.scratch.subspan(offset));
  switch (result.status) {
  case net::io_status::would_block: return false;
  case net::io_status::end: from.ended = true; return false;
  case net::io_status::failed:
    from.ended = true;
    from.broken = true;
    return false;
  case net::io_status::ok: break;
  }
  (is_client(from) ? tools_.counters.client_to_server_bytes : tools_.counters.server_to_client_bytes)
      .add(result.bytes);
  from.received_bytes += result.bytes;
  if (!is_client(from)) {
    server_spoke_ = true;
    if (offer_ != nullptr) [[unlikely]] {
      accept_login({tools_.scratch.data() + offset, result.bytes});
      return !offer_refused();
    }
  }
  if (joins) {
    accept_burst(from, {tools_.scratch.data(), offset + result.bytes}, result.bytes);
  } else {
    accept_kept(from, {tools_.scratch.data(), result.bytes});
  }
  return true;
}

/// The server's first bytes, on connections whose offer of mechanisms is looked at.
void relay::accept_login(std::string_view fresh) {
  std::string passed;
  if (offer_->pass(fresh, passed)) offer_.reset();
  if (!passed.empty()) accept_kept(server_, passed);
}

/// `whole`: the kept bytes and the fresh ones behind them.
void relay::accept_burst(side& from, std::string_view whole, std::size_t fresh_bytes) {
  if (engine_ == nullptr && whole.size() == fresh_bytes) return pass_raw(from, whole);
  const std::size_t taken = offer(from, whole);
  if (taken == 0) {
    from.unread.append(whole.substr(whole.size() - fresh_bytes));
    return;
  }
  from.unread.clear();
  if (taken < whole.size()) from.unread.append(whole.substr(taken));
}

void relay::accept_kept(side& from, std::string_view fresh) {
  from.unread.append(fresh);
  offer_kept(from);
}

void relay::offer_kept(side& from) {
  const std::size_t taken = offer(from, from.unread.view());
  if (taken > 0) from.unread.consume(taken);
}

/// Gives the engine what there is, as often as it goes on taking. Returns what it took.
std::size_t relay::offer(side& from, std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && close_reason_ == gate::close_reason::none) {
    const std::string_view rest = bytes.substr(taken);
    if (engine_ == nullptr) {
      pass_raw(from, rest);
      return bytes.size();
    }
    if (is_client(from) ? rest.size() < engine_->client_bytes_wanted()
                        : rest.size() < engine_->server_bytes_wanted())
      break;
    tools_.actions.clear();
    const std::size_t now = is_client(from) ? engine_->on_client_bytes(rest, tools_.actions)
                                            : engine_->on_server_bytes(rest, tools_.actions);
    taken += now;
    bool resume_client = false;
    carry_out(resume_client);
    become_raw_when_possible(from);
    if (resume_client && !is_client(from)) offer_kept(client_);
    if (now == 0) break;
  }
  return taken;
}

void relay::pass_raw(side& from, std::string_view bytes) {
  raw_idle_ = !is_client(from) && bytes.ends_with(idle_message);
  send(other(from), bytes);
}

/// `from`: the side whose bytes are being offered; it goes on by itself.
void relay::become_raw_when_possible(side& from) {
  if (engine_ == nullptr || !engine_->is_raw()) return;
  raw_idle_ = engine_->transaction_status() == 'I' && !engine_->replies_outstanding();
  engine_.reset();
  if (!other(from).unread.empty()) offer_kept(other(from));
}

void relay::carry_out(bool& resume_client) {
  const gate::actions& what = tools_.actions;
  resume_client = what.resume_client;
  if (what.close == gate::close_reason::client_terminated) {
    terminated_ = true;
  } else if (what.close != gate::close_reason::none) {
    close_reason_ = what.close;
  }
  if (!what.to_server.empty()) send(server_, what.to_server);
  if (!what.to_client.empty()) send(client_, what.to_client);
  for (const gate::note& each : what.notes)
    observer_.on_note(each);
  if (!what.backend_key.empty()) observer_.on_backend_key(what.backend_key);
  if (what.ask_control_row) observer_.on_control_row_wanted();
  if (what.refresh_catalog) observer_.on_catalog_wanted();
}

void relay::send_to_client(std::string_view own_bytes) { send(client_, own_bytes); }
void relay::send_to_server(std::string_view own_bytes) { send(server_, own_bytes); }

void relay::send(side& to, std::string_view bytes) {
  if (to.broken) return;
  std::size_t gone = 0;
  if (to.unsent.empty()) {
    const net::io_result result = to.socket.write(bytes);
    sent(to, result);
    gone = result.bytes;
  }
  if (!to.broken && gone < bytes.size()) to.unsent.append(bytes.substr(gone));
}

void relay::send(side& to, const gate::output_bytes& bytes) {
  if (bytes.piece_count() == 1) {
    const auto only = bytes.piece_at(0);
    return send(to, std::string_view(only.data, only.size));
  }
  std::array<iovec, pieces_per_call> vector{};
  std::size_t index = 0;
  while (index < bytes.piece_count() && to.unsent.empty() && !to.broken) {
    std::size_t count = 0;
    std::size_t wanted = 0;
    for (; count < vector.size() && index + count < bytes.piece_count(); ++count) {
      const auto piece = bytes.piece_at(index + count);
      vector[count] = {const_cast<char*>(piece.data), piece.size};
      wanted += piece.size;
    }
    const net::io_result result = to.socket.write(std::span<const iovec>(vector.data(), count));
    sent(to, result);
    index += count;
    if (to.broken || result.bytes == wanted) continue;
    std::size_t gone = result.bytes;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view piece(static_cast<const char*>(vector[i].iov_base), vector[i].iov_len);
      to.unsent.append(piece.substr(std::min(gone, piece.size())));
      gone -= std::min(gone, piece.size());
    }
  }
  if (to.broken) return;
  for (; index < bytes.piece_count(); ++index) {
    const auto piece = bytes.piece_at(index);
    to.unsent.append({piece.data, piece.size});
  }
}

void relay::sent(side& to, const net::io_result& result) {
  if (result.status != net::io_status::failed) return;
  to.broken = true;
  to.unsent.clear();
}

} // namespace ledgergate::session
