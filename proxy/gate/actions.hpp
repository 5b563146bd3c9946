// What the gate engine answers with: bytes for each side, and notes about what it did. Values only; the
// session carries them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/sql/classifier.hpp"

namespace ledgergate::gate {

/// Bytes to send to one side, in order: runs of the input as received (consecutive ones fused into one) and
/// bytes of the proxy's own. The forwarded runs view the input span of the engine call that produced them:
/// they must be sent or copied before that buffer changes. Owned by the session, cleared after each
/// carrying-out; keeps its capacity.
class output_bytes {
 public:
  struct piece {
    const char* data;
    std::size_t size;
  };

  /// Appends bytes of the input, by reference. Adjacent runs become one piece.
  void forward(std::string_view run) {
    if (run.empty()) return;
    total_ += run.size();
    if (!entries_.empty() && entries_.back().view != nullptr &&
        entries_.back().view + entries_.back().size == run.data()) {
      entries_.back().size += run.size();
      return;
    }
    entries_.push_back({run.data(), 0, run.size()});
  }

  /// Appends bytes of the proxy's own, by copy.
  void inject(std::string_view bytes) {
    if (bytes.empty()) return;
    total_ += bytes.size();
    const std::size_t offset = storage_.size();
    storage_.append(bytes);
    if (!entries_.empty() && entries_.back().view == nullptr) {
      entries_.back().size += bytes.size();
      return;
    }
    entries_.push_back({nullptr, offset, bytes.size()});
  }

  bool empty() const { return total_ == 0; }
  std::size_t total_bytes() const { return total_; }
  std::size_t piece_count() const { return entries_.size(); }
  piece piece_at(std::size_t index) const {
    const entry& e = entries_[index];
    return {e.view != nullptr ? e.view : storage_.data() + e.offset, e.size};
  }

  void clear() {
    entries_.clear();
    storage_.clear();
    total_ = 0;
  }

 private:
  struct entry {
    const char* view;   ///< into the input, or null
    std::size_t offset; ///< into storage_ when view is null
    std::size_t size;
  };
  std::vector<entry> entries_;
  std::string storage_;
  std::size_t total_ = 0;
};

/// How a pin travelled; label of ledgergate_pins_total.
enum class pin_shape : std::uint8_t {
  function_call, ///< FunctionCall in front of a simple Query in an open transaction
  in_batch,      ///< Parse/Bind/Execute of its own inside the client's extended batch
  as_extended,   ///< the client's simple query sent through the extended protocol behind the pin
  envelope,      ///< session-level hold, confirmed before the message was forwarded
};
inline constexpr std::size_t pin_shape_count = 4;
const char* to_string(pin_shape);

/// An observation for metrics and the log; the engine itself neither counts nor logs.
struct note {
  enum class kind : std::uint8_t {
    touched,       ///< a statement was classified as touch or transition (verdict filled)
    unparsed,      ///< fail closed: the parser could not read the text (label = why)
    pin_injected,  ///< a pin was put on the wire (shape)
    pin_held,      ///< its success was seen
    pin_failed,    ///< its failure was seen (sqlstate)
    upgrade,       ///< a transaction that already held the pin became a transition: two of these can deadlock
    stale,         ///< a snapshot was older than the last transition: 40001
    denied,        ///< an in-band transition was refused by policy
    refused,       ///< a shape that cannot be pinned was answered with an error (label)
    hold_released, ///< a session-level hold was given back
    catalog_changed,  ///< something was defined that need not lead to the ledger: the catalog is worth a
                      ///< reading
    observed,         ///< gate.mode observe: this would have been pinned (touch, reason, name, text)
    observed_end,     ///< and here its pin would have ended: the session is idle again
    client_violation, ///< a message header made no sense: only the header went to the server, which ends the
                      ///< session in its own way
  };
  kind what;
  pin_shape shape = pin_shape::function_call;
  sql::touch_kind touch = sql::touch_kind::none;
  sql::touch_reason reason = sql::touch_reason::not_mentioned;
  char sqlstate[6] = {};
  const char* label = ""; ///< static text
  std::string name;       ///< gated name that matched, for the debug log
  std::string text;       ///< observed: what the client wrote, cut; empty when it is not at hand
};

/// Why the engine gives a session up. The session sends what is queued, then closes both sides.
enum class close_reason : std::uint8_t {
  none,
  server_protocol_violation, ///< the server's stream made no sense: fail closed
  client_terminated,         ///< Terminate ('X') was forwarded
};

/// The result of one engine call. `to_client` and `to_server` are to be written in one write each.
struct actions {
  output_bytes to_server;
  output_bytes to_client;
  std::vector<note> notes;
  std::string_view backend_key; ///< body of BackendKeyData when it passed by in this call (process id, then
                                ///< the secret key)
  bool ask_control_row =
      false; ///< the transaction that last wrote the control row is wanted: session_engine::on_control_row
  bool refresh_catalog =
      false; ///< the catalog is to be read anew, the client waits: session_engine::on_catalog
  bool resume_client = false; ///< the client side was paused and may go on: offer its unconsumed bytes again
  close_reason close = close_reason::none;

  void clear() {
    to_server.clear();
    to_client.clear();
    notes.clear();
    backend_key = {};
    ask_control_row = false;
    refresh_catalog = false;
    resume_client = false;
    close = close_reason::none;
  }
};

} // namespace ledgergate::gate
