// The two pumps of a session: bytes of one side through the gate engine to the other. Knows sockets and the
// engine, not the session's life. Each burst costs one receive and one send.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/gate/session_engine.hpp"
#include "proxy/net/byte_queue.hpp"
#include "proxy/net/stream_socket.hpp"
#include "proxy/session/sasl_offer.hpp"
#include "proxy/session/session_host.hpp"

namespace ledgergate::session {

/// Receives what the engine observed; called while the bytes it belongs to are being relayed.
class relay_observer {
 public:
  virtual void on_note(const gate::note&) = 0;
  virtual void on_backend_key(std::string_view key) = 0;
  /// The engine wants on_control_row().
  virtual void on_control_row_wanted() = 0;
  /// The engine wants on_catalog().
  virtual void on_catalog_wanted() = 0;

 protected:
  ~relay_observer() = default;
};

/// Bounded memory: what one side cannot take is kept (at most one burst and the proxy's own messages), and
/// the other side is not read until it is gone. The two directions are independent: a side is read while the
/// other way is stuck.
class relay {
 public:
  relay(net::stream_socket& client, net::stream_socket& server, relay_tools& tools, relay_observer& observer);

  /// Right after the StartupMessage was handed to the server's socket with send_to_server(). `early`: what
  /// the client sent behind it.
  void start(std::unique_ptr<gate::session_engine> engine, std::string_view early);

  /// Before start(): what becomes of the server's offer of SASL mechanisms.
  void watch_offer(offer_policy policy) { offer_ = std::make_unique<sasl_offer>(policy); }
  /// The offer has a mechanism with channel binding, which cannot hold: nothing of it was relayed.
  bool offer_refused() const { return offer_ != nullptr && offer_->refused(); }

  /// What the engine asked for; a pump() should follow.
  void on_control_row(std::optional<std::uint64_t> writer);
  void on_catalog(bool current);
  void use_rules(std::shared_ptr<const gate::gate_rules> rules);

  /// Moves bytes both ways until nothing is left to do, or until others must have their turn: true.
  bool pump();

  void send_to_client(std::string_view own_bytes);
  void send_to_server(std::string_view own_bytes);
  /// Only writes what waits for the client.
  void flush_client();

  /// Nothing ends and nothing broke: the common case, asked after each pump().
  bool undisturbed() const;
  /// It sends no more: FIN, reset, or Terminate.
  bool client_ended() const {
    return terminated_ || client_.ended || client_.broken || client_.socket.peer_ended();
  }
  /// Its Terminate was forwarded, or is the last that it sent and waits with what is in front of it.
  bool client_terminated() const;
  /// Everything it sent was taken in.
  bool client_all_read() const { return client_.ended || terminated_; }
  /// Reset, or closed while something was sent to it.
  bool client_broken() const { return client_.broken || client_.socket.peer_hung_up(); }
  /// Reading from it or writing to it failed.
  bool client_reset() const { return client_.broken; }
  bool server_ended() const { return server_.ended; }
  bool server_spoke() const { return server_spoke_; }
  /// A protocol violation of the server, or none. The client's Terminate is not reported here.
  gate::close_reason close_reason() const { return close_reason_; }
  bool client_flushed() const { return client_.flushed() || client_.broken; }
  bool server_flushed() const { return server_.flushed() || server_.broken; }

  /// Nothing the client sent still waits for the server to take or for the engine to let through.
  bool client_forwarded() const {
    return server_flushed() && (engine_ == nullptr || !engine_->client_paused());
  }
  bool is_raw() const { return engine_ == nullptr; }
  bool replies_outstanding() const { return engine_ != nullptr && engine_->replies_outstanding(); }
  bool awaits_client() const { return engine_ != nullptr && engine_->awaits_client(); }
  bool pinned() const { return engine_ != nullptr && engine_->pinned(); }
  /// As session_info::state.
  const char* activity() const;
  std::uint64_t bytes_from_client() const { return client_.received_bytes; }
  std::uint64_t bytes_from_server() const { return server_.received_bytes; }
  /// No transaction, nothing on the way in either direction. Without the engine this rests on the last bytes
  /// that the server sent being those of a ReadyForQuery.
  bool idle() const;

 private:
  struct side {
    explicit side(net::stream_socket& of) : socket(of) {}
    net::stream_socket& socket;
    net::byte_queue unread; ///< received from it, not yet taken by the engine
    net::byte_queue unsent; ///< for it, not yet taken by its socket
    std::uint64_t received_bytes = 0;
    bool ended = false;  ///< its end was read (FIN or reset)
    bool broken = false; ///< reading or writing failed: nothing more goes to it
    bool flushed() const { return unsent.empty() && !socket.write_waits(); }
  };

  template <typename Answer>
  void answer_engine(void (gate::session_engine::*method)(Answer, gate::actions&), Answer answer);

  bool is_client(const side& which) const { return &which == &client_; }
  side& other(const side& which) { return is_client(which) ? server_ : client_; }

  bool flush(side& to);
  bool take(side& from);
  bool receive(side& from);
  void accept_login(std::string_view fresh);
  void accept_burst(side& from, std::string_view whole, std::size_t fresh_bytes);
  void accept_kept(side& from, std::string_view fresh);
  std::size_t offer(side& from, std::string_view bytes);
  void pass_raw(side& from, std::string_view bytes);
  void offer_kept(side& from);
  void carry_out(bool& resume_client);
  void send(side& to, std::string_view bytes);
  void send(side& to, const gate::output_bytes& bytes);
  void sent(side& to, const net::io_result& result);
  void become_raw_when_possible(side& from);

  side client_;
  side server_;
  relay_tools& tools_;
  relay_observer& observer_;
  std::unique_ptr<gate::session_engine> engine_; ///< none: raw
  std::unique_ptr<sasl_offer> offer_;            ///< until the offer has passed
  gate::close_reason close_reason_ = gate::close_reason::none;
  bool terminated_ = false;
  bool server_spoke_ = false;
  bool raw_idle_ = false;
};

} // namespace ledgergate::session
