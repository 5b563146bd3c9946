// The framer of both directions: the same bytes in the same order, once in pieces as they come and once byte
// by byte. What goes out must be the same, whatever the bytes are. The server's pieces end at the ends of its
// messages at the latest: a client that waited for one of them goes on there, in front of what the server
// says next.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/tags.hpp"
#include "protocol/wire.hpp"
#include "proxy/gate/session_engine.hpp"
#include "tests/fuzz/byte_source.hpp"
#include "tests/fuzz/require.hpp"

using namespace ledgergate;
using test::require;

namespace {

std::shared_ptr<const gate::gate_rules> rules() {
  config::settings settings;
  settings.gate.lock_key = 1;
  settings.gate.applier_lock_key = 2;
  settings.gate.tables = {{"", "led", config::pin_on::any, {}}};
  settings.gate.functions = {"f"};
  settings.control_row.table = "ctl";
  // More than an input is long: the engine gives a Bind whose names do not end up at some size of what is
  // there.
  settings.limits.max_buffered_statement_bytes = 512;
  return gate::make_gate_rules(settings);
}

/// Follows the borders of the server's messages.
class borders {
 public:
  /// How many of these bytes belong to the message they begin in.
  std::size_t next(std::string_view bytes) {
    std::size_t taken = 0;
    while (taken < bytes.size()) {
      if (rest_ == 0) {
        header_.push_back(bytes[taken++]);
        if (header_.size() < protocol::header_bytes) continue;
        const std::uint32_t length = protocol::load_int32(header_.data() + 1);
        header_.clear();
        if (length <= 4) return taken;
        rest_ = length - 4;
      }
      const std::size_t more = std::min<std::size_t>(rest_, bytes.size() - taken);
      taken += more;
      rest_ -= more;
      if (rest_ == 0) return taken;
    }
    return taken;
  }

 private:
  std::string header_;
  std::size_t rest_ = 0;
};

/// An engine with its receive buffers; everything it sends, in order.
class session {
 public:
  session(const std::shared_ptr<const gate::gate_rules>& with, gate::session_kind kind)
      : engine_(with, kind, counters_) {}

  void client(std::string_view bytes) {
    from_client_.append(bytes);
    for (bool again = true; again && open;) {
      gate::actions out;
      const std::size_t taken = engine_.on_client_bytes(from_client_, out);
      require(taken <= from_client_.size(), "no more is taken than there is");
      collect(out);
      from_client_.erase(0, taken);
      again = out.resume_client;
    }
  }

  void server(std::string_view bytes) {
    from_server_.append(bytes);
    gate::actions out;
    const std::size_t taken = engine_.on_server_bytes(from_server_, out);
    require(taken <= from_server_.size(), "no more is taken than there is");
    collect(out);
    from_server_.erase(0, taken);
    if (out.resume_client) client({});
  }

  std::string to_server, to_client;
  bool open = true;

 private:
  void collect(const gate::actions& out) {
    for (std::size_t i = 0; i < out.to_server.piece_count(); ++i)
      to_server.append(out.to_server.piece_at(i).data, out.to_server.piece_at(i).size);
    for (std::size_t i = 0; i < out.to_client.piece_count(); ++i)
      to_client.append(out.to_client.piece_at(i).data, out.to_client.piece_at(i).size);
    if (out.close != gate::close_reason::none) open = false;
  }

  gate::statement_counters counters_;
  gate::session_engine engine_;
  std::string from_client_, from_server_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto shared_rules = rules();
  test::byte_source in(data, size);
  const auto kind = in.below(4) == 0 ? gate::session_kind::replication : gate::session_kind::gated;
  session whole(shared_rules, kind), cut(shared_rules, kind);
  for (session* each : {&whole, &cut})
    each->server(std::string_view("Z\0\0\0\5I", 6));
  borders of_server;
  while (!in.empty() && whole.open && cut.open) {
    const bool from_client = in.below(2) == 1;
    const std::string_view piece = in.bytes(in.byte());
    if (from_client) whole.client(piece);
    for (std::string_view left = from_client ? std::string_view{} : piece; !left.empty() && whole.open;) {
      const std::size_t message = of_server.next(left);
      whole.server(left.substr(0, message));
      left.remove_prefix(message);
    }
    for (const char& byte : piece) {
      if (!cut.open) break;
      from_client ? cut.client({&byte, 1}) : cut.server({&byte, 1});
    }
    require(whole.open == cut.open, "the session ends at the same bytes");
    // What a client sends behind Terminate in one piece with it goes on to a server that no longer reads.
    if (!whole.open) whole.to_server.resize(std::min(whole.to_server.size(), cut.to_server.size()));
    require(whole.to_server == cut.to_server, "the server gets the same bytes");
    require(whole.to_client == cut.to_client, "the client gets the same bytes");
  }
  return 0;
}
