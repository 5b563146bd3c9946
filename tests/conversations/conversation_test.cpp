// Plays every conversation script against the gate engine: message by message, byte by byte, and with the
// connection's reads joined and cut at seeded random places. What goes to each side must be the same each
// time.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "proxy/gate/session_engine.hpp"
#include "tests/support/conversation.hpp"
#include "tests/support/message_text.hpp"

namespace ledgergate::test {
namespace {

using who = conversation_line::who;

config::settings settings_for(const conversation& script) {
  config::settings settings;
  settings.gate.lock_key = 1263879245;
  settings.gate.applier_lock_key = 1263879247;
  settings.gate.tables = {{"", "led", config::pin_on::any, {}}};
  settings.gate.functions = {"touch_led"};
  settings.gate.in_band_transitions =
      script.in_band == "deny" ? config::in_band_policy::deny : config::in_band_policy::exclusive;
  settings.gate.mode = script.gate == "observe" ? config::gate_mode::observe : config::gate_mode::enforce;
  settings.control_row.table = "ledger_control";
  settings.control_row.where = "id = 1";
  settings.modes = {"shadow", "ledger"};
  return settings;
}

gate::session_kind kind_of(const conversation& script) {
  if (script.kind == "ungated") return gate::session_kind::ungated;
  return script.kind == "replication" ? gate::session_kind::replication : gate::session_kind::gated;
}

/// An engine with the two receive buffers a session would have.
class player {
 public:
  explicit player(const conversation& script)
      : settings_(settings_for(script)),
        engine_(gate::make_gate_rules(settings_), kind_of(script), counters_) {
    const std::string ready = message_from_text("ReadyForQuery I");
    server(ready);
    if (script.kind == "gated" && script.gate == "enforce") {
      // The first message of every session carries the question for the default isolation level.
      client(message_from_text("Query \"\""));
      server(message_from_text("TextResponse \"" + script.isolation + "\"") + ready);
      server(message_from_text("EmptyQueryResponse") + ready);
    }
    to_server.clear();
    to_client.clear();
  }

  void client(std::string_view bytes) {
    from_client_.append(bytes);
    offer_client();
  }

  /// The control connection says which transaction last wrote the control row.
  void control_row(std::uint64_t writer) {
    gate::actions out;
    engine_.on_control_row(writer, out);
    collect(out);
    if (out.resume_client) offer_client();
  }

  void gated_also(const std::string& name) {
    settings_.gate.tables.push_back({"", name, config::pin_on::any, {}});
    auto rules = std::make_shared<gate::gate_rules>(*gate::make_gate_rules(settings_));
    rules->generation = ++generation_;
    engine_.use_rules(std::move(rules));
  }

  void catalog(bool current) {
    gate::actions out;
    engine_.on_catalog(current, out);
    collect(out);
    if (out.resume_client) offer_client();
  }

  void server(std::string_view bytes) {
    from_server_.append(bytes);
    gate::actions out;
    const std::size_t taken = engine_.on_server_bytes(from_server_, out);
    collect(out);
    from_server_.erase(0, taken);
    if (out.resume_client) offer_client();
  }

  std::string to_server, to_client;
  gate::close_reason closed = gate::close_reason::none;
  gate::session_engine& engine() { return engine_; }

 private:
  void offer_client() {
    for (bool again = true; again;) {
      gate::actions out;
      const std::size_t taken = engine_.on_client_bytes(from_client_, out);
      collect(out);
      from_client_.erase(0, taken);
      again = out.resume_client;
    }
  }

  void collect(const gate::actions& out) {
    for (std::size_t i = 0; i < out.to_server.piece_count(); ++i)
      to_server.append(out.to_server.piece_at(i).data, out.to_server.piece_at(i).size);
    for (std::size_t i = 0; i < out.to_client.piece_count(); ++i)
      to_client.append(out.to_client.piece_at(i).data, out.to_client.piece_at(i).size);
    if (out.close != gate::close_reason::none) closed = out.close;
  }

  config::settings settings_;
  std::uint64_t generation_ = 0;
  gate::statement_counters counters_;
  gate::session_engine engine_;
  std::string from_client_, from_server_;
};

enum class feed { by_message, by_byte, cut_at_random };

/// Gives the bytes of one input line to the engine in the chosen way.
void give(player& peer, const conversation_line& line, feed how, std::mt19937& random) {
  const bool from_client = line.what == who::client_sends;
  for (std::size_t at = 0; at < line.bytes.size();) {
    std::size_t size = line.bytes.size() - at;
    if (how == feed::by_byte) size = 1;
    if (how == feed::cut_at_random) size = std::uniform_int_distribution<std::size_t>(1, size)(random);
    const std::string_view part = std::string_view(line.bytes).substr(at, size);
    from_client ? peer.client(part) : peer.server(part);
    at += size;
  }
}

void play(const conversation& script, feed how, unsigned seed) {
  player peer(script);
  std::mt19937 random(seed);
  std::string want_server, want_client;
  for (std::size_t i = 0; i < script.lines.size(); ++i) {
    const conversation_line& line = script.lines[i];
    const bool input = line.what == who::client_sends || line.what == who::server_sends;
    if (input) {
      give(peer, line, how, random);
      continue;
    }
    if (line.what == who::control_row) {
      peer.control_row(std::stoull(line.text));
      continue;
    }
    if (line.what == who::gated_also || line.what == who::catalog) {
      line.what == who::catalog ? peer.catalog(line.text == "current") : peer.gated_also(line.text);
      continue;
    }
    (line.what == who::to_server ? want_server : want_client) += line.bytes;
    const bool last_of_block = i + 1 == script.lines.size() || (script.lines[i + 1].what != who::to_server &&
                                                                script.lines[i + 1].what != who::to_client);
    if (!last_of_block) continue;
    const std::string where = script.file + ":" + std::to_string(line.number) + " " + line.text;
    ASSERT_EQ(peer.to_server, want_server) << where << "\nto the server:\n"
                                           << show_messages(peer.to_server) << "wanted:\n"
                                           << show_messages(want_server);
    ASSERT_EQ(peer.to_client, want_client) << where << "\nto the client:\n"
                                           << show_messages(peer.to_client) << "wanted:\n"
                                           << show_messages(want_client);
    ASSERT_NE(peer.closed, gate::close_reason::server_protocol_violation) << where;
  }
  EXPECT_EQ(peer.to_server, want_server) << script.name;
  EXPECT_EQ(peer.to_client, want_client) << script.name;
}

std::vector<conversation> all_scripts() {
  std::vector<conversation> out;
  for (const auto& entry : std::filesystem::directory_iterator(LEDGERGATE_CONVERSATIONS)) {
    if (entry.path().extension() != ".conv") continue;
    for (conversation& script : read_conversations(entry.path().string()))
      out.push_back(std::move(script));
  }
  return out;
}

class Conversation : public testing::TestWithParam<conversation> {};

TEST_P(Conversation, HoldsMessageByMessage) { play(GetParam(), feed::by_message, 0); }

TEST_P(Conversation, HoldsByteByByte) { play(GetParam(), feed::by_byte, 0); }

TEST_P(Conversation, HoldsHoweverReadsAreCut) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    play(GetParam(), feed::cut_at_random, seed);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, Conversation, testing::ValuesIn(all_scripts()), [](const auto& tested) {
  std::string name;
  for (const char c : std::filesystem::path(tested.param.file).stem().string() + "_" + tested.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

} // namespace
} // namespace ledgergate::test
