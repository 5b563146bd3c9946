// Hostile bytes from both sides in any order. Whatever comes: no crash, no more bytes taken than given, and
// on a gated session in enforce mode what goes to the server is whole messages of the client or the proxy's
// own, never bytes that were not looked at.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "protocol/tags.hpp"
#include "protocol/wire.hpp"
#include "proxy/gate/session_engine.hpp"

namespace {

using namespace ledgergate;

std::shared_ptr<const gate::gate_rules> rules(config::in_band_policy policy) {
  config::settings settings;
  settings.gate.lock_key = 1;
  settings.gate.applier_lock_key = 2;
  settings.gate.tables = {{"", "led", config::pin_on::any, {}}};
  settings.gate.functions = {"f"};
  settings.gate.in_band_transitions = policy;
  settings.control_row.table = "ctl";
  settings.limits.max_buffered_statement_bytes = 4096;
  return gate::make_gate_rules(settings);
}

void require(bool holds) {
  if (!holds) std::abort();
}

/// Follows the message borders of a stream; a header the server itself would refuse ends the check.
class border_checker {
 public:
  void feed(std::string_view bytes) {
    stream_.append(bytes);
    while (!refused_ && stream_.size() >= protocol::header_bytes) {
      const std::size_t length = protocol::load_int32(stream_.data() + 1);
      const std::uint32_t limit = protocol::max_frontend_length(stream_[0]);
      if (length < 4 || length > limit) {
        refused_ = true;
        require(stream_.size() == protocol::header_bytes);
        return;
      }
      if (stream_.size() < length + 1) return;
      stream_.erase(0, length + 1);
    }
    if (refused_) require(stream_.size() == protocol::header_bytes);
  }

 private:
  std::string stream_;
  bool refused_ = false;
};

struct peers {
  gate::statement_counters counters;
  gate::session_engine engine;
  border_checker to_server;
  std::string from_client, from_server;
  bool started = false;

  void drain(const gate::actions& out) {
    std::string bytes;
    for (std::size_t i = 0; i < out.to_server.piece_count(); ++i)
      bytes.append(out.to_server.piece_at(i).data, out.to_server.piece_at(i).size);
    if (started) to_server.feed(bytes);
  }

  bool client(std::string_view bytes) {
    from_client.append(bytes);
    for (bool again = true; again;) {
      gate::actions out;
      const std::size_t taken = engine.on_client_bytes(from_client, out);
      require(taken <= from_client.size());
      drain(out);
      from_client.erase(0, taken);
      if (out.close != gate::close_reason::none) return false;
      again = out.resume_client;
    }
    return true;
  }

  bool server(std::string_view bytes) {
    from_server.append(bytes);
    gate::actions out;
    const std::size_t taken = engine.on_server_bytes(from_server, out);
    require(taken <= from_server.size());
    drain(out);
    from_server.erase(0, taken);
    if (out.close != gate::close_reason::none) return false;
    return !out.resume_client || client({});
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto exclusive = rules(config::in_band_policy::exclusive);
  static const auto deny = rules(config::in_band_policy::deny);
  if (size < 2) return 0;
  const auto kind = data[0] % 3 == 0 ? gate::session_kind::replication : gate::session_kind::gated;
  peers both{{}, gate::session_engine(data[0] & 4 ? deny : exclusive, kind, both.counters), {}, {}, {}};
  if ((data[0] & 8) == 0) {
    both.server(std::string_view("Z\0\0\0\5I", 6));
    both.started = true;
  }
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (rest.size() >= 2) {
    const bool from_client = (rest[0] & 1) != 0;
    const std::size_t length = std::min<std::size_t>(static_cast<unsigned char>(rest[1]), rest.size() - 2);
    const std::string_view chunk = rest.substr(2, length);
    rest.remove_prefix(2 + length);
    if (!(from_client ? both.client(chunk) : both.server(chunk))) break;
  }
  return 0;
}
