#include "tests/support/conversation.hpp"

#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

#include "protocol/wire.hpp"
#include "tests/support/message_text.hpp"

namespace ledgergate::test {

namespace {

bool take_setting(const std::string& line, const std::string& key, std::string& value) {
  if (line.rfind(key + ": ", 0) != 0) return false;
  value = line.substr(key.size() + 2);
  return true;
}

void add_line(conversation& into, const std::string& line, int number) {
  using who = conversation_line::who;
  if (line.size() < 5 || line[3] != ' ') throw std::runtime_error("not a message line");
  const std::string verb = line.substr(0, 3);
  const std::string bytes = message_from_text(line.substr(4));
  const auto add = [&](who what) { into.lines.push_back({what, bytes, line, number}); };
  if (verb == "C>P")
    add(who::client_sends);
  else if (verb == "S>P")
    add(who::server_sends);
  else if (verb == "P>S")
    add(who::to_server);
  else if (verb == "P>C")
    add(who::to_client);
  else if (verb == "C=S")
    add(who::client_sends), add(who::to_server);
  else if (verb == "S=C")
    add(who::server_sends), add(who::to_client);
  else
    throw std::runtime_error("unknown verb " + verb);
}

} // namespace

std::vector<conversation> read_conversations(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<conversation> out;
  std::string line, real, held;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    try {
      std::string name;
      if (take_setting(line, "case", name)) {
        out.push_back({});
        out.back().file = path;
        out.back().name = name;
        continue;
      }
      if (out.empty()) throw std::runtime_error("a case must come first");
      conversation& now = out.back();
      if (take_setting(line, "kind", now.kind) || take_setting(line, "gate", now.gate) ||
          take_setting(line, "in_band", now.in_band) || take_setting(line, "isolation", now.isolation))
        continue;
      if (take_setting(line, "real", real)) {
        now.real_server = real != "no";
        if (real.rfind("up to ", 0) == 0) now.newest_major = std::stoi(real.substr(6));
        continue;
      }
      if (take_setting(line, "gate_held", held)) {
        now.gate_held = held == "yes";
        continue;
      }
      if (line.rfind("control row ", 0) == 0) {
        now.lines.push_back({conversation_line::who::control_row, {}, line.substr(12), number});
        continue;
      }
      if (line.rfind("gated also ", 0) == 0) {
        now.lines.push_back({conversation_line::who::gated_also, {}, line.substr(11), number});
        continue;
      }
      if (line == "catalog current" || line == "catalog unknown") {
        now.lines.push_back({conversation_line::who::catalog, {}, line.substr(8), number});
        continue;
      }
      add_line(now, line, number);
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what() + ": " + line);
    }
  }
  return out;
}

std::string show_messages(const std::string& bytes) {
  std::ostringstream out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t total =
        at + 5 <= bytes.size() ? 1 + protocol::load_int32(bytes.data() + at + 1) : bytes.size() - at;
    out << "  " << bytes[at] << " ";
    for (std::size_t i = at + 5; i < std::min(bytes.size(), at + total); ++i) {
      const char c = bytes[i];
      if (c >= ' ' && c < 127)
        out << c;
      else
        out << '.';
    }
    out << "\n";
    at += std::max<std::size_t>(total, 1);
  }
  return out.str();
}

} // namespace ledgergate::test
