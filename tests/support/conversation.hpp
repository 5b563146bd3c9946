// Conversations as text: what client (C), proxy (P) and server (S) send to each other, one line a message.
//
//   C>P MESSAGE   the client sends            P>S MESSAGE   the proxy must send this to the server
//   S>P MESSAGE   the server sends            P>C MESSAGE   the proxy must send this to the client
//   C=S MESSAGE   the client's, forwarded     S=C MESSAGE   the server's, forwarded
//
//   control row N    the control connection says that transaction N last wrote the control row
//   gated also NAME  the catalog was read: from now on the relation NAME touches as well
//   catalog current  .. and the session may rely on it;  catalog unknown  it could not be read
//
// `case: a sentence` begins a case; `kind: gated|ungated|replication`, `gate: enforce|observe`, `in_band:
// exclusive|deny`, `isolation: DEFAULT LEVEL` and `gate_held: yes` set it up (the last one says that somebody
// else holds the gate, so that the lock calls of the script end with 55P03); `#` begins a comment. A case
// starts behind start-up with ReadyForQuery I. The same file is played against the engine (every line) and
// against a real server (what reaches it and what it answers), so that a script cannot claim what a server
// does not do; `real: no` leaves a case out there, `real: up to 17` for newer servers.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace ledgergate::test {

struct conversation_line {
  enum class who { client_sends, server_sends, to_server, to_client, control_row, gated_also, catalog };
  who what;
  std::string bytes; ///< the message, whole
  std::string text;  ///< as written
  int number = 0;    ///< line in the file
};

struct conversation {
  std::string file;
  std::string name;
  std::string kind = "gated";
  std::string gate = "enforce";
  std::string in_band = "exclusive";
  std::string isolation = "read committed"; ///< the session's default
  bool gate_held = false;  ///< on a real server another session holds the gate, and lock_timeout is short
  bool real_server = true; ///< `real: no`: a server cannot be made to do this on purpose
  int newest_major = 1000; ///< `real: up to 17`: later servers answer differently
  std::vector<conversation_line> lines;
};

/// For the test runner's messages.
inline void PrintTo(const conversation& script, std::ostream* out) {
  *out << script.file << ": " << script.name;
}

/// Throws std::runtime_error naming file and line when a line cannot be read.
std::vector<conversation> read_conversations(const std::string& path);

/// Bytes as text, for failures: the messages' type bytes and lengths with printable content.
std::string show_messages(const std::string& bytes);

} // namespace ledgergate::test
