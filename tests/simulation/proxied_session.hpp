// What the proxy's session does around the gate engine: receive buffers, the answer to the control row's
// question. And the ways to break it, by which the simulation shows that it can fail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/gate/session_engine.hpp"

namespace ledgergate::simulation {

enum class breakage : std::uint8_t {
  none,
  wrong_key,         ///< pins go to a key that is not the gate's
  observes_only,     ///< no pins
  no_session_hold,   ///< the shared session-level lock is left out
  no_release,        ///< a session-level lock is never given back
  reply_let_out,     ///< one answer to an injected message reaches the client
  reply_lost,        ///< one answer to the client is dropped
  proof_always_true, ///< a snapshot is taken to be recent, whatever the control row says
  shared_transition, ///< a transition takes the gate in shared mode
};
inline constexpr std::size_t breakage_count = 9;
const char* to_string(breakage);

class proxied_session {
 public:
  proxied_session(std::shared_ptr<const gate::gate_rules> rules, breakage broken);

  void from_client(std::string_view bytes);
  void from_server(std::string_view bytes);
  void control_row(std::optional<std::uint64_t> writer);
  void use_rules(std::shared_ptr<const gate::gate_rules> rules) { engine_.use_rules(std::move(rules)); }
  void catalog_read(bool current);

  std::string take_to_server() { return std::exchange(to_server_, {}); }
  std::string take_to_client() { return std::exchange(to_client_, {}); }
  bool question_open() const { return question_open_; }
  bool catalog_wanted() const { return catalog_wanted_; }
  /// The engine gave the session up.
  gate::close_reason closed() const { return closed_; }
  bool at_rest() const {
    return from_client_.empty() && from_server_.empty() && !question_open_ && !catalog_wanted_;
  }
  const gate::session_engine& engine() const { return engine_; }

 private:
  void offer_client();
  void carry_out(const gate::actions& out, std::size_t consumed_of_server);
  std::string broken_to_server(std::string bytes) const;
  std::string broken_to_client(std::string bytes, bool swallowed);

  const breakage broken_;
  gate::statement_counters counters_;
  gate::session_engine engine_;
  std::string from_client_, from_server_, to_server_, to_client_;
  bool question_open_ = false;
  bool catalog_wanted_ = false;
  bool broke_ = false;
  gate::close_reason closed_ = gate::close_reason::none;
};

} // namespace ledgergate::simulation
