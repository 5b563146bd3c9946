// The life of one client connection, from its first byte to the last socket closed. Lives on one worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/byte_queue.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/peer_fate.hpp"
#include "proxy/net/stream_socket.hpp"
#include "proxy/session/relay.hpp"
#include "proxy/session/session_host.hpp"
#include "proxy/session/session_info.hpp"
#include "proxy/session/session_registry.hpp"
#include "proxy/session/startup_dialogue.hpp"
#include "proxy/session/upstream_connector.hpp"

namespace ledgergate::session {

class session final : public net::event_loop::disposable,
                      private net::stream_socket::owner,
                      private net::event_loop::resumable,
                      private relay_observer {
 public:
  session(std::uint64_t id, session_host& host);
  ~session() override;

  /// Takes the accepted socket over. limits.client_startup_timeout runs from here until the whole start-up
  /// packet is there; connecting is bounded by upstream.connect_timeout, and authentication by the server's
  /// own authentication_timeout, as it would be without the proxy.
  /// `listener`: an index into settings.listen.
  void begin(net::unique_fd client, std::size_t listener);
  /// The answer to session_host::resolve_upstream().
  void on_addresses(const net::resolution&);

  /// The answer to session_host::ask_control_row().
  void on_control_row(std::optional<std::uint64_t> writer);
  /// The answer to session_host::ask_catalog().
  void on_catalog(bool current);
  /// The rules have changed.
  void use_rules(std::shared_ptr<const gate::gate_rules> rules);

  session_info info() const;

  /// Shutdown: an idle session is told so and ended, a busy one once it is idle.
  void begin_drain();
  /// Shutdown, out of patience.
  void end_now();

 private:
  enum class phase : std::uint8_t {
    starting,   ///< its start-up packets are read
    resolving,  ///< waits for the upstream's addresses
    connecting, ///< waits for the upstream's socket
    relaying,
    ending,    ///< last bytes go to the client, then its socket is closed politely
    abandoned, ///< the client is gone, its statement is being cancelled
    over,
  };

  void on_ready(net::stream_socket&) override;
  void on_resume() override;
  void on_timer();
  void on_note(const gate::note&) override;
  void on_observed(const gate::note&);
  void on_observed_end();
  void on_backend_key(std::string_view key) override;
  void on_control_row_wanted() override { host_.ask_control_row(id_); }
  void on_catalog_wanted() override { host_.ask_catalog(id_); }

  // session_start.cpp
  void read_startup();
  void read_startup_step();
  void take_startup_step(const startup_step&);
  void startup_ended();
  void begin_connect(const startup_step&);
  gate::session_kind kind_of(const protocol::startup_packet&) const;
  void connect(std::vector<net::socket_address> addresses);
  void on_connected(connect_outcome);
  void refuse(session_result, std::string_view sqlstate, std::string_view message);

  // session_tls.cpp
  void choose_tls(std::size_t listener);
  void begin_tls(std::string_view received);
  void greet();
  upstream_encryption encryption() const;
  void watch_offer();
  void handle_refused_offer();

  // session_end.cpp
  void handle_disturbance();
  void handle_server_violation();
  void handle_server_end();
  void handle_client_end();
  void begin_ending(session_result);
  void continue_ending();
  void abandon(session_result);
  void discard(net::stream_socket&);
  void order_cancel();
  void over(session_result);

  void relay_on();
  void drain_when_idle();
  std::string describe() const;
  session_log& log() { return host_.shared().log; }

  const std::uint64_t id_;
  session_host& host_;
  net::stream_socket client_;
  net::stream_socket server_;
  relay relay_;
  net::timer timer_;
  phase phase_ = phase::starting;
  session_result result_ = session_result::completed;
  bool admitted_ = false;
  bool draining_ = false;
  bool end_seen_ = false;    ///< the client's end was seen; end_began_ and end_fate_ are set
  bool server_shut_ = false; ///< the client's FIN was sent on
  bool client_shut_ = false; ///< ending: FIN sent
  bool violated_ = false;  ///< the client's stream made no sense: the server ends the session in its own way
  bool pin_timed_ = false; ///< pin_began_ is set: a pin is on its way
  unsigned cancels_sent_ = 0;
  net::peer_fate end_fate_ = net::peer_fate::unknown;
  gate::session_kind kind_ = gate::session_kind::gated;

  tls::context_set::listener tls_; ///< of the place where the client came in
  bool greeting_ = false;          ///< starting: the client's TLS handshake is under way
  bool encrypted_ = false;         ///< the server's leg is TLS
  bool direct_tls_ = false;        ///< it began with the handshake, so it must name the protocol in it

  startup_dialogue dialogue_;
  net::byte_queue inbox_;      ///< of the client, before relaying
  std::string startup_packet_; ///< until it is forwarded
  std::string user_;
  std::string database_;
  std::string application_;
  std::string client_name_;
  std::string backend_key_;
  std::unique_ptr<upstream_connector> connector_;
  net::socket_address server_address_;
  net::event_loop::clock::time_point began_;
  net::event_loop::clock::time_point connect_deadline_{};
  net::event_loop::clock::time_point end_began_{};
  net::event_loop::clock::time_point pin_began_{};

  struct observation {
    observe::touch_report::id statement;
    net::event_loop::clock::time_point at;
  };
  std::vector<observation> observed_; ///< gate.mode observe: what would be pinned until the session is idle
};

} // namespace ledgergate::session
