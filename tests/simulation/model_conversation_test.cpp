// The model server against the conversation scripts, whose server's lines a real server confirms
// (tests/conversations/conversation_pgtest.cpp): what a script says reaches the server goes to the model, and
// the model must answer as the script says the server does. Compared are the types of the messages,
// SQLSTATEs, command tags without their counts, and state letters; rows are left out, since the model has no
// data.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "protocol/backend_message.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"
#include "tests/simulation/model_backend.hpp"
#include "tests/support/conversation.hpp"

namespace ledgergate::simulation {
namespace {

namespace backend = protocol::backend;
using test::conversation;
using who = test::conversation_line::who;

/// What a script is about that the model has no part of: the character sets and protocols it does not know,
/// and what other sessions send.
const std::set<std::string, std::less<>> unknown_to_the_model = {"asynchronous.conv", "replication.conv"};

/// What DO executes is text to the model, and the two higher levels are one.
const std::set<std::string, std::less<>> scripts_beyond_the_model = {
    "a DO that may redefine statements leaves no trust in any name",
    "a SET TRANSACTION that fails exempts nothing"};

std::string essence(char tag, std::string_view body) {
  std::string out(1, tag);
  if (tag == backend::error_response) out += " " + std::string(protocol::error_field(body, 'C'));
  if (tag == backend::ready_for_query) out += " " + std::string(body);
  if (tag == backend::command_complete) {
    std::string_view text = body.substr(0, body.find('\0'));
    while (!text.empty() &&
           (std::isdigit(static_cast<unsigned char>(text.back())) != 0 || text.back() == ' '))
      text.remove_suffix(1);
    out += " " + std::string(text);
  }
  return out;
}

std::vector<std::string> essences(const std::string& bytes) {
  const auto left_out = [](char tag) {
    return tag == backend::data_row || tag == backend::notice_response || tag == backend::parameter_status ||
           tag == backend::notification_response || tag == backend::copy_data;
  };
  std::vector<std::string> out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t total = 1 + protocol::load_int32(bytes.data() + at + 1);
    if (!left_out(bytes[at]))
      out.push_back(essence(bytes[at], std::string_view(bytes).substr(at + 5, total - 5)));
    at += total;
  }
  return out;
}

std::vector<conversation> scripts() {
  std::vector<conversation> out;
  for (const auto& entry : std::filesystem::directory_iterator(LEDGERGATE_CONVERSATIONS)) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() != ".conv" || unknown_to_the_model.contains(file)) continue;
    for (conversation& script : test::read_conversations(entry.path().string()))
      if (script.real_server && !scripts_beyond_the_model.contains(script.name) &&
          script.kind != "replication")
        out.push_back(std::move(script));
  }
  return out;
}

class ModelServer : public testing::TestWithParam<conversation> {};

TEST_P(ModelServer, AnswersAsARealServer) {
  const conversation& script = GetParam();
  model_database database;
  server_watcher nobody;
  model_backend other(database, nobody, nullptr, 1);
  if (script.gate_held) {
    (void)database.locks.request(1, gate_key, lock_mode::exclusive, session_owner);
  }
  model_backend server(database, nobody, nullptr, 2);
  server.settings["default_transaction_isolation"] = script.isolation;
  if (script.gate_held) server.settings["lock_timeout"] = "50";
  std::string sent, wanted;
  std::vector<std::string> lines;
  for (const auto& line : script.lines) {
    if (line.what == who::to_server) server.feed(line.bytes);
    if (line.what == who::server_sends) wanted += line.bytes;
    lines.push_back(line.text);
    server.run_all();
    for (auto at = server.next_moment(); at; at = server.next_moment()) {
      database.now = *at;
      server.time();
      server.run_all();
    }
    sent += server.take_output();
  }
  server.feed(std::string("H\0\0\0\4", 5));
  server.run_all();
  sent += server.take_output();
  EXPECT_EQ(essences(sent), essences(wanted)) << script.file << ": " << script.name;
}

INSTANTIATE_TEST_SUITE_P(Scripts, ModelServer, testing::ValuesIn(scripts()), [](const auto& tested) {
  std::string name;
  for (const char c : std::filesystem::path(tested.param.file).stem().string() + "_" + tested.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

} // namespace
} // namespace ledgergate::simulation
