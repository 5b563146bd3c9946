#include "proxy/gate/session_engine.hpp"

#include <utility>

#include "proxy/gate/engine_core.hpp"

namespace ledgergate::gate {

session_engine::session_engine(std::shared_ptr<const gate_rules> rules, session_kind kind,
                               statement_counters& counters)
    : core_(std::make_unique<engine_core>(std::move(rules), kind, counters)) {}

session_engine::~session_engine() = default;

std::size_t session_engine::on_client_bytes(std::string_view bytes, actions& out) {
  return core_->on_client_bytes(bytes, out);
}

std::size_t session_engine::on_server_bytes(std::string_view bytes, actions& out) {
  return core_->on_server_bytes(bytes, out);
}

void session_engine::on_control_row(std::optional<std::uint64_t> writer, actions& out) {
  core_->on_control_row(writer, out);
}

void session_engine::use_rules(std::shared_ptr<const gate_rules> rules) {
  core_->use_rules(std::move(rules));
}
void session_engine::on_catalog(bool current, actions& out) { core_->on_catalog(current, out); }

bool session_engine::client_paused() const { return core_->client_paused(); }
std::size_t session_engine::client_bytes_wanted() const { return core_->client_bytes_wanted(); }
std::size_t session_engine::server_bytes_wanted() const { return core_->server_bytes_wanted(); }
bool session_engine::is_raw() const { return core_->is_raw(); }
bool session_engine::replies_outstanding() const { return core_->replies_outstanding(); }
bool session_engine::awaits_client() const { return core_->awaits_client(); }
char session_engine::transaction_status() const { return core_->transaction_status(); }
bool session_engine::pinned() const { return core_->pinned(); }

} // namespace ledgergate::gate
