// The whole of a simulated run: clients, proxied sessions, a model server, an operator, and what goes wrong
// between them, in one thread, in virtual time, from one seed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/gate/rule_switch.hpp"
#include "tests/simulation/model_client.hpp"
#include "tests/simulation/operator_desk.hpp"
#include "tests/simulation/proxied_session.hpp"
#include "tests/simulation/witness.hpp"

namespace ledgergate::simulation {

struct run_options {
  std::uint64_t seed = 1;
  breakage broken = breakage::none;
  std::optional<gate::gate_rule> left_out; ///< a rule of the engine that is taken away
  bool everything = false;                 ///< clients also say what client_texts.hpp leaves out
  bool trace = false;                      ///< keeps a line for everything that happens
  /// One client that says this, instead of what the seed says.
  std::shared_ptr<const std::vector<utterance>> script;
  std::string script_level = "read committed"; ///< its default isolation level
  bool script_transitions = false;             ///< while an operator changes the mode
};

struct session_script {
  lock_holder backend = 0;
  std::string level;
  std::vector<utterance> said;
};

struct run_result {
  std::vector<std::string> violations; ///< empty: the run kept every guarantee
  std::vector<std::string> trace;
  std::vector<session_script> scripts; ///< of the sessions that were open when a guarantee broke
  std::size_t steps = 0;
  std::size_t touches = 0;
  std::size_t mode_changes = 0;
  std::size_t transitions = 0;
  std::size_t sessions = 0;
  std::size_t compared_to_the_end = 0; ///< sessions whose every answer was that of a server of their own
};

run_result run_world(const run_options& options);

} // namespace ledgergate::simulation
