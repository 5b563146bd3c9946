// Plays every conversation script against a real server: what the script says reaches the server is sent, and
// what it says the server answers must come back. So no script can claim what a server does not do.
//
// Messages that the script sends to the server with no reply between them leave in one write. Replies are
// compared by type and by what the engine reads of them. Notices and ParameterStatus that the script does not
// mention may come in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "protocol/backend_message.hpp"
#include "protocol/frontend_message.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"
#include "tests/support/conversation.hpp"
#include "tests/support/server_connection.hpp"

namespace ledgergate::test {
namespace {

namespace backend = protocol::backend;
using who = conversation_line::who;

constexpr const char* gate_key = "1263879245";

std::string needed(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr)
    throw std::runtime_error(std::string(variable) +
                             " is not set: start this test with tests/support/with_server.py");
  return value;
}

std::unique_ptr<server_connection> connect(server_connection::parameters more) {
  more.insert(more.begin(), {{"user", "postgres"}, {"database", needed("LEDGERGATE_PG_DATABASE")}});
  return std::make_unique<server_connection>(needed("LEDGERGATE_PG_HOST"),
                                             std::stoi(needed("LEDGERGATE_PG_PORT")), more);
}

void reset_database(server_connection& admin) {
  for (const std::string& gid : admin.run("SELECT gid FROM pg_prepared_xacts"))
    admin.run("ROLLBACK PREPARED '" + gid + "'");
  admin.run("DELETE FROM led");
  admin.run("DELETE FROM ledger_control");
  admin.run("INSERT INTO ledger_control VALUES (1, 'shadow')");
}

std::vector<server_message> split(const std::string& bytes) {
  std::vector<server_message> out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = protocol::load_int32(bytes.data() + at + 1);
    out.push_back({bytes[at], bytes.substr(at + protocol::header_bytes, length - 4)});
    at += 1 + length;
  }
  return out;
}

/// The first column of a DataRow, or the value of a FunctionCallResponse.
std::string value_at(std::string_view body, std::size_t offset) {
  if (body.size() < offset + 4) return {};
  const std::uint32_t length = protocol::load_int32(body.data() + offset);
  return std::string(body.substr(offset + 4, std::min<std::size_t>(length, body.size())));
}

/// What of a message is compared, as text. A DataRow "*" stands for any row, and which transactions a
/// snapshot names is the server's business.
std::string essence(const server_message& message) {
  constexpr std::size_t snapshot_bytes = 20;
  const std::string tag(1, message.tag);
  std::string value;
  switch (message.tag) {
  case backend::error_response: return tag + " " + std::string(protocol::error_field(message.body, 'C'));
  case backend::data_row: value = value_at(message.body, 2); break;
  case backend::function_call_response: value = value_at(message.body, 0); break;
  case backend::command_complete:
  case backend::ready_for_query:
  case backend::copy_data: value = message.body; break;
  default: return tag;
  }
  if (message.tag == backend::function_call_response && value.size() >= snapshot_bytes)
    return tag + " (a snapshot)";
  return tag + " " + testing::PrintToString(value);
}

bool may_come_between(char tag) {
  return tag == backend::notice_response || tag == backend::parameter_status;
}

class real_server {
 public:
  explicit real_server(const conversation& script) {
    admin_ = connect({});
    reset_database(*admin_);
    server_connection::parameters parameters = {{"default_transaction_isolation", script.isolation}};
    if (script.kind == "replication") parameters.push_back({"replication", "database"});
    if (script.gate_held) {
      admin_->run(std::string("SELECT pg_advisory_lock(") + gate_key + ")");
      parameters.push_back({"lock_timeout", "50ms"});
    }
    session_ = connect(parameters);
  }

  void queue(const std::string& bytes) { unsent_ += bytes; }

  void flush() {
    session_->send(unsent_);
    unsent_.clear();
  }

  void expect(const server_message& wanted) {
    flush();
    server_message got = session_->read();
    while (got.tag != wanted.tag && may_come_between(got.tag))
      got = session_->read();
    if (got.tag == backend::data_row && value_at(wanted.body, 2) == "*") return;
    ASSERT_EQ(essence(got), essence(wanted));
  }

  /// Nothing but what the script says came back: the reply to a Sync is the next message, in every state.
  void expect_nothing_more(bool terminated) {
    if (terminated) {
      flush();
      EXPECT_TRUE(session_->at_end());
      return;
    }
    std::string sync;
    protocol::append_sync(sync);
    queue(sync);
    flush();
    server_message got = session_->read();
    while (may_come_between(got.tag))
      got = session_->read();
    EXPECT_EQ(got.tag, backend::ready_for_query) << "the script leaves out " << essence(got);
  }

 private:
  std::unique_ptr<server_connection> admin_, session_;
  std::string unsent_;
};

std::vector<conversation> real_scripts() {
  const char* version = std::getenv("LEDGERGATE_PG_MAJOR");
  const int major = version == nullptr ? 0 : std::stoi(version);
  std::vector<conversation> out;
  for (const auto& entry : std::filesystem::directory_iterator(LEDGERGATE_CONVERSATIONS)) {
    if (entry.path().extension() != ".conv") continue;
    for (conversation& script : read_conversations(entry.path().string()))
      if (script.real_server && major <= script.newest_major) out.push_back(std::move(script));
  }
  return out;
}

class RealServer : public testing::TestWithParam<conversation> {};

TEST_P(RealServer, AnswersAsTheScriptSays) {
  const conversation& script = GetParam();
  real_server server(script);
  bool terminated = false;
  for (const conversation_line& line : script.lines) {
    SCOPED_TRACE(script.file + ":" + std::to_string(line.number) + " " + line.text);
    if (line.what == who::to_server) {
      server.queue(line.bytes);
      terminated = line.bytes[0] == protocol::frontend::terminate;
    }
    if (line.what != who::server_sends) continue;
    for (const server_message& wanted : split(line.bytes)) {
      server.expect(wanted);
      if (HasFatalFailure()) return;
    }
  }
  server.expect_nothing_more(terminated);
}

INSTANTIATE_TEST_SUITE_P(Scripts, RealServer, testing::ValuesIn(real_scripts()), [](const auto& tested) {
  std::string name;
  for (const char c : std::filesystem::path(tested.param.file).stem().string() + "_" + tested.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

} // namespace
} // namespace ledgergate::test
