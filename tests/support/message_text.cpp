#include "tests/support/message_text.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "protocol/error_response.hpp"
#include "protocol/frontend_message.hpp"
#include "protocol/message_writer.hpp"
#include "protocol/wire.hpp"
#include "proxy/gate/pin_messages.hpp"

namespace ledgergate::test {

namespace {

using words = std::vector<std::string>;

constexpr std::int64_t gate_key = 1263879245;
constexpr std::int64_t applier_key = 1263879247;

const gate::pin_messages& pins() {
  static const gate::pin_messages messages = gate::make_pin_messages(gate_key, applier_key);
  return messages;
}

words split(const std::string& text) {
  words out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    std::string word;
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        word.push_back(text[at]);
      }
      ++at;
    } else {
      while (at < text.size() && text[at] != ' ')
        word.push_back(text[at++]);
    }
    out.push_back(word);
  }
  return out;
}

std::string message(char tag, const std::string& body) {
  std::string out;
  protocol::message_writer writer(out, tag);
  out += body;
  writer.finish();
  return out;
}

std::string strings(const words& w, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < w.size(); ++i)
    out += w[i] + '\0';
  return out;
}

template <typename F>
std::string built(F&& append) {
  std::string out;
  append(out);
  return out;
}

const std::string& pin(const words& w) {
  const gate::lock_messages& locks = w.at(1) == "exclusive" ? pins().exclusive : pins().shared;
  return w.size() > 2 && w[2] == "session" ? locks.batch_with_session : locks.batch;
}

std::string as_extended(const words& w) {
  std::string out =
      pins().as_extended_prefix + (w.at(1) == "exclusive" ? pins().exclusive : pins().shared).batch;
  protocol::append_parse(out, "", w.at(2));
  return out + pins().as_extended_suffix;
}

std::string pin_replies(const words&) {
  return message('3', "") + message('1', "") + message('2', "") +
         message('D', std::string("\0\1\0\0\0\0", 6)) + message('C', std::string("SELECT 1\0", 9)) +
         message('3', "") + message('3', "");
}

/// `Execute PORTAL [MAX_ROWS]`
std::string execute(const words& w) {
  std::string body = w.at(1) + '\0';
  protocol::append_int32(body, w.size() > 2 ? static_cast<std::uint32_t>(std::stoul(w[2])) : 0);
  return message('E', body);
}

// One int4 column named a.
std::string row_description() {
  return message('T', std::string("\0\1a\0\0\0\0\0\0\0\0\0\0\x17\0\4\xff\xff\xff\xff\0\0", 22));
}

std::string data_row(const words& w) {
  std::string body;
  protocol::append_int16(body, 1);
  protocol::append_int32(body, static_cast<std::uint32_t>(w.at(1).size()));
  return message('D', body + w[1]);
}

std::string function_result(const std::string& value) {
  std::string body;
  protocol::append_int32(body, static_cast<std::uint32_t>(value.size()));
  return message('V', body + value);
}

/// `SnapshotResponse XMIN XMAX`: nothing in progress between them.
std::string snapshot_result(const words& w) {
  std::string value;
  protocol::append_int32(value, 0);
  protocol::append_int64(value, std::stoll(w.at(1)));
  protocol::append_int64(value, std::stoll(w.at(2)));
  return function_result(value);
}

std::string lock_call(const words& w) {
  const std::int64_t key = w.size() > 2 && w[2] == "applier" ? applier_key : gate_key;
  return protocol::make_function_call(static_cast<std::uint32_t>(std::stoul(w.at(1))), key);
}

/// A FunctionCall without arguments.
std::string bare_call(const words& w) {
  std::string body;
  protocol::append_int32(body, static_cast<std::uint32_t>(std::stoul(w.at(1))));
  protocol::append_int16(body, 0); // argument formats
  protocol::append_int16(body, 0); // arguments
  protocol::append_int16(body, 1); // the result in binary
  return message('F', body);
}

using builder = std::function<std::string(const words&)>;

const std::map<std::string, builder>& builders() {
  using protocol::append_int16;
  static const std::map<std::string, builder> all = {
      // from the client
      {"Query", [](const words& w) { return built([&](auto& o) { protocol::append_query(o, w.at(1)); }); }},
      {"Parse",
       [](const words& w) { return built([&](auto& o) { protocol::append_parse(o, w.at(1), w.at(2)); }); }},
      {"Bind",
       [](const words& w) { return built([&](auto& o) { protocol::append_bind(o, w.at(1), w.at(2)); }); }},
      {"Describe",
       [](const words& w) {
         return built([&](auto& o) { protocol::append_describe(o, w.at(1)[0], w.at(2)); });
       }},
      {"Execute", execute},
      {"Close",
       [](const words& w) {
         return built([&](auto& o) { protocol::append_close(o, w.at(1)[0], w.at(2)); });
       }},
      {"Sync", [](const words&) { return message('S', ""); }},
      {"Flush", [](const words&) { return message('H', ""); }},
      {"Terminate", [](const words&) { return message('X', ""); }},
      {"CopyFail", [](const words& w) { return message('f', strings(w, 1)); }},
      {"FunctionCall", lock_call},
      {"BareFunctionCall", bare_call},
      {"AskIsolation", [](const words&) { return pins().ask_isolation; }},
      {"AskReadOnly", [](const words&) { return pins().ask_read_only; }},
      {"AskSnapshot", [](const words&) { return pins().ask_snapshot; }},
      {"FailingFunctionCall", [](const words&) { return pins().failing_call; }},
      {"FailingBind", [](const words&) { return pins().failing_bind; }},
      {"Pin", pin},
      {"AsExtended", as_extended},
      {"SessionQuery", [](const words&) { return pins().shared.session_query; }},
      {"SessionReleaseQuery", [](const words&) { return pins().shared.session_release_query; }},
      // from both
      {"CopyData", [](const words& w) { return message('d', w.at(1) + "\n"); }},
      {"CopyDone", [](const words&) { return message('c', ""); }},
      // from the server
      {"PinReplies", pin_replies},
      {"ParseComplete", [](const words&) { return message('1', ""); }},
      {"BindComplete", [](const words&) { return message('2', ""); }},
      {"CloseComplete", [](const words&) { return message('3', ""); }},
      {"NoData", [](const words&) { return message('n', ""); }},
      {"EmptyQueryResponse", [](const words&) { return message('I', ""); }},
      {"PortalSuspended", [](const words&) { return message('s', ""); }},
      {"ParameterDescription", [](const words&) { return message('t', std::string("\0\0", 2)); }},
      {"RowDescription", [](const words&) { return row_description(); }},
      {"DataRow", data_row},
      {"VoidRow", [](const words&) { return message('D', std::string("\0\1\0\0\0\0", 6)); }},
      {"CommandComplete", [](const words& w) { return message('C', strings(w, 1)); }},
      {"ReadyForQuery", [](const words& w) { return protocol::make_ready_for_query(w.at(1)[0]); }},
      {"ErrorResponse",
       [](const words& w) {
         return protocol::make_error_response("ERROR", w.at(1), w.size() > 2 ? w[2] : "m");
       }},
      {"StaleError",
       [](const words&) {
         return protocol::make_error_response(
             "ERROR", "40001", "could not serialize access due to a change of the ledger's mode",
             "The transaction's snapshot is from before the change. Try again.");
       }},
      {"DenyError",
       [](const words&) {
         return protocol::make_error_response(
             "ERROR", "42501", "this session may not change the mode of the ledger",
             "Change the mode through the admin port of ledgergate at 127.0.0.1:6433, "
             "for instance with gatectl flip.");
       }},
      {"RefuseError",
       [](const words&) {
         return protocol::make_error_response(
             "ERROR", "0A000", "ledgergate cannot pin this text in the transaction state it is sent in",
             "Send the transaction control statement in it as a message of its own.");
       }},
      {"BatchRefuseError",
       [](const words&) {
         return protocol::make_error_response(
             "ERROR", "0A000",
             "ledgergate cannot pin a statement at this isolation level behind others of one batch",
             "Send a Sync in front of it, or use a transaction block.");
       }},
      {"NoticeResponse",
       [](const words& w) {
         return message('N', std::string("SNOTICE\0M", 9) + w.at(1) + std::string(2, '\0'));
       }},
      {"ParameterStatus", [](const words& w) { return message('S', strings(w, 1)); }},
      {"NotificationResponse",
       [](const words& w) { return message('A', std::string("\0\0\0\1", 4) + strings(w, 1)); }},
      {"FunctionCallResponse", [](const words&) { return message('V', std::string("\0\0\0\0", 4)); }},
      {"TextResponse", [](const words& w) { return function_result(w.at(1)); }},
      {"SnapshotResponse", snapshot_result},
      {"BoolResponse",
       [](const words& w) {
         return function_result(w.size() > 1 && w[1] == "false" ? std::string(1, '\0') : "\1");
       }},
      {"CopyInResponse", [](const words&) { return message('G', std::string("\0\0\1\0\0", 5)); }},
      {"CopyOutResponse", [](const words&) { return message('H', std::string("\0\0\1\0\0", 5)); }},
      {"CopyBothResponse", [](const words&) { return message('W', std::string("\0\0\0", 3)); }},
  };
  return all;
}

} // namespace

std::string message_from_text(const std::string& text) {
  const words w = split(text);
  const auto found = w.empty() ? builders().end() : builders().find(w[0]);
  if (found == builders().end()) throw std::runtime_error("unknown message");
  return found->second(w);
}

} // namespace ledgergate::test
