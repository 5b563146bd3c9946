// One reader per section of ledgergate.yaml; called by load_text() alone.
#pragma once

#include "config/section_reader.hpp"
#include "config/settings.hpp"

namespace ledgergate::config {

/// A plain relay (`gate.mode: off`) needs neither the control connection nor the control row. What is given
/// is checked all the same.
enum class gate_keys { required, optional };

void read_listen(const section_reader& root, std::vector<listen_settings>& target);
void read_upstream(const section_reader& root, upstream_settings& target);
void read_admin(const section_reader& root, admin_settings& target);

/// Who connects to a listener of ours decides what its `tls:` may say: PostgreSQL clients may be let in in
/// clear beside TLS, and bind channels.
enum class tls_use { postgres, http };
/// `tls:` of `parent`, which must allow that key.
void read_server_tls(const section_reader& parent, tls_use use, server_tls_settings& target);
void read_upstream_tls(const section_reader& parent, upstream_tls_settings& target);

/// `gate.mode` says what the other sections must have, so it is read before them.
gate_keys read_gate_mode(const section_reader& gate, gate_settings& target);
section_reader gate_section(const section_reader& root);
void read_gate(const section_reader& gate, gate_keys keys, gate_settings& target);

/// Returns the database that the connection string names; empty when there is none.
std::string read_control(const section_reader& root, gate_keys keys, control_settings& target);
void read_control_row(const section_reader& root, gate_keys keys, control_row_settings& target);
void read_modes(const section_reader& root, gate_keys keys, std::vector<std::string>& target);

void read_transitions(const section_reader& root, transition_settings& target);
void read_limits(const section_reader& root, limit_settings& target);
void read_drain(const section_reader& root, drain_settings& target);
void read_log(const section_reader& root, log_settings& target);

/// What no section can see alone. That something is gated needs no check of its own: with the gate on, the
/// control row is required, and it is gated.
void check_across(load_context& context, const settings& value);

} // namespace ledgergate::config
