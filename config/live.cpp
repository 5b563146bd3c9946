#include "config/live.hpp"

namespace ledgergate::config {
namespace {

/// Whether two settings say the same about one key.
using comparison = bool (*)(const settings& now, const settings& wanted);

template <auto Section>
bool same(const settings& now, const settings& wanted) {
  return now.*Section == wanted.*Section;
}

template <auto Section, auto Member>
bool same_in(const settings& now, const settings& wanted) {
  return (now.*Section).*Member == (wanted.*Section).*Member;
}

bool same_presence_of_gate(const settings& now, const settings& wanted) {
  return (now.gate.mode == gate_mode::off) == (wanted.gate.mode == gate_mode::off);
}

/// Between enforce and observe.
bool same_strictness(const settings& now, const settings& wanted) {
  return now.gate.mode == wanted.gate.mode || !same_presence_of_gate(now, wanted);
}

constexpr std::string_view live{};
constexpr std::string_view opened_at_start = "the ports are opened at the start";
constexpr std::string_view one_gate = "sessions that hold the gate by the old value would be overlooked by a "
                                      "transition that goes by the new one";
constexpr std::string_view read_at_start =
    "the path is taken at the start; what is in the file may be replaced at any time";

struct watched_key {
  std::string_view key;
  comparison is_same;
  std::string_view reason; ///< why it needs a restart
};

const watched_key watched_keys[] = {
    {"listen", same<&settings::listen>, opened_at_start},
    {"upstream.host", same_in<&settings::upstream, &upstream_settings::hosts>,
     "sessions that run and those that come would be on two servers"},
    {"upstream.connect_timeout", same_in<&settings::upstream, &upstream_settings::connect_timeout>, live},
    {"upstream.tls", same_in<&settings::upstream, &upstream_settings::tls>,
     "sessions that run would not be what the file says"},
    {"control.dsn", same_in<&settings::control, &control_settings::dsn>,
     "the control connections are made with it at the start"},
    {"gate.mode", same_presence_of_gate,
     "sessions that began without the gate stay without it, and off has no control connection"},
    {"gate.mode", same_strictness, live},
    {"gate.database", same_in<&settings::gate, &gate_settings::database>, one_gate},
    {"gate.lock_key", same_in<&settings::gate, &gate_settings::lock_key>, one_gate},
    {"gate.applier_lock_key", same_in<&settings::gate, &gate_settings::applier_lock_key>, one_gate},
    {"gate.pin_before_locks", same_in<&settings::gate, &gate_settings::pin_before_locks>, live},
    {"gate.tables", same_in<&settings::gate, &gate_settings::tables>, live},
    {"gate.functions", same_in<&settings::gate, &gate_settings::functions>, live},
    {"gate.catalog", same_in<&settings::gate, &gate_settings::catalog>, live},
    {"gate.in_band_transitions", same_in<&settings::gate, &gate_settings::in_band_transitions>, live},
    {"control_row", same<&settings::control_row>,
     "a transition would change one row while sessions go by the other"},
    {"modes", same<&settings::modes>, live},
    {"transitions.deadline", same_in<&settings::transitions, &transition_settings::deadline>, live},
    {"transitions.queue_budget", same_in<&settings::transitions, &transition_settings::queue_budget>, live},
    {"transitions.hold_budget", same_in<&settings::transitions, &transition_settings::hold_budget>, live},
    {"transitions.applier_timeout", same_in<&settings::transitions, &transition_settings::applier_timeout>,
     live},
    {"transitions.max_waiting_pins", same_in<&settings::transitions, &transition_settings::max_waiting_pins>,
     live},
    {"transitions.evict_idle_after", same_in<&settings::transitions, &transition_settings::evict_idle_after>,
     live},
    {"transitions.guards", same_in<&settings::transitions, &transition_settings::guards>, live},
    {"transitions.steps", same_in<&settings::transitions, &transition_settings::steps>, live},
    {"transitions.notify", same_in<&settings::transitions, &transition_settings::notify>, live},
    {"admin.address", same_in<&settings::admin, &admin_settings::address>, opened_at_start},
    {"admin.tls", same_in<&settings::admin, &admin_settings::tls>,
     "the paths are taken at the start; what is in the files is read again by every reload"},
    {"admin.token_file", same_in<&settings::admin, &admin_settings::token_file>, read_at_start},
    {"admin.viewer_token_file", same_in<&settings::admin, &admin_settings::viewer_token_file>, read_at_start},
    {"limits.max_clients", same_in<&settings::limits, &limit_settings::max_clients>, live},
    {"limits.client_startup_timeout", same_in<&settings::limits, &limit_settings::client_startup_timeout>,
     live},
    {"limits.max_buffered_statement",
     same_in<&settings::limits, &limit_settings::max_buffered_statement_bytes>, live},
    {"limits.threads", same_in<&settings::limits, &limit_settings::threads>,
     "a session stays on the thread it began on, and threads are made at the start"},
    {"drain.timeout", same_in<&settings::drain, &drain_settings::timeout>, live},
    {"drain.accept_for", same_in<&settings::drain, &drain_settings::accept_for>, live},
    {"log.level", same_in<&settings::log, &log_settings::level>, live},
    {"log.format", same_in<&settings::log, &log_settings::format>, live},
    {"log.statements", same_in<&settings::log, &log_settings::statements>, live},
};

} // namespace

std::vector<changed_key> changed_keys(const settings& now, const settings& wanted) {
  std::vector<changed_key> changed;
  for (const watched_key& each : watched_keys) {
    if (!each.is_same(now, wanted)) changed.push_back({each.key, each.reason});
  }
  return changed;
}

std::string refusal(const changed_key& changed) {
  return std::string(changed.key) + ": cannot change while the sidecar runs, since " +
         std::string(changed.reason) + "; restart it";
}

} // namespace ledgergate::config
