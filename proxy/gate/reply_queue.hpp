// What a session expects the server to answer, in order: whose each reply is, what ends it, and what it
// changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/gate/pin_messages.hpp"
#include "proxy/gate/statement_names.hpp"

namespace ledgergate::gate {

enum class reply_kind : std::uint8_t {
  query,         ///< everything up to ReadyForQuery
  function_call, ///< FunctionCallResponse or ErrorResponse, then ReadyForQuery
  parse,         ///< ParseComplete
  bind,          ///< BindComplete
  describe,      ///< [ParameterDescription,] RowDescription or NoData
  execute,       ///< rows or COPY, then CommandComplete, EmptyQueryResponse or PortalSuspended
  close,         ///< CloseComplete
  sync,          ///< ReadyForQuery
  copy_end, ///< CopyDone or CopyFail: answered by nothing of its own; marks the place for the Syncs before it
  pin_batch,   ///< the pin inside a batch: 3 1 2 D C 3 3
  as_extended, ///< the client's simple query behind a pin, sent through the extended protocol, up to
               ///< ReadyForQuery
};

/// The step of an as_extended entry at which only ReadyForQuery is still to come.
inline constexpr std::uint8_t as_extended_done = 13;

enum class reply_owner : std::uint8_t { client, proxy };

enum class reply_purpose : std::uint8_t {
  none,
  pin,           ///< transaction-level lock in front of a client's message
  hold_with_pin, ///< session-level lock in front of a client's message, not waited for (a savepoint may be
                 ///< open)
  hold_acquire,  ///< session-level lock of an envelope: the client side waits for it
  leave_failed,  ///< the failed transaction rolled back, for an envelope
  run_first,     ///< the first statement of the client's text, in front of the pin and the whole text
  fail_again,    ///< and failed again, so that the client's text meets what it was sent for
  hold_release,  ///< a session-level lock given back
  refuse,        ///< fails on purpose; its error is replaced by ours and is the client's
  learn_default, ///< the session's default isolation level
  examine_level, ///< the open transaction's isolation level
  examine_read_only, ///< whether it is READ ONLY
  prove_hold, ///< session-level lock, pin and snapshot in front of a touch at REPEATABLE READ or SERIALIZABLE
  prove_pin,
  prove_snapshot,
  tidy, ///< a Close owed to the client's unnamed statement
};

struct expected_reply {
  reply_kind kind = reply_kind::query;
  reply_owner owner = reply_owner::client;
  reply_purpose purpose = reply_purpose::none;
  pin_strength strength = pin_strength::none;
  bool session_lock = false; ///< a pin_batch or as_extended that takes session-level locks as well
  bool may_drop_pin = false; ///< may end the transaction or roll back to a savepoint
  bool redefines_names =
      false; ///< PREPARE, DEALLOCATE or DISCARD by SQL: until it is answered no name means what it did
  bool drops_holds = false; ///< session-level locks taken before it may be gone behind it, even if it fails
  pin_strength under_hold = pin_strength::none; ///< touches, and a session-level hold alone may cover it
  bool defines_a_way = false; ///< may open a new way to the ledger when its transaction commits
  bool failed = false;        ///< its ErrorResponse was seen
  bool drop_error = false;    ///< the client already has the pin's error in its place
  bool sync_on_skip = false;  ///< a simple Query inside an un-Synced batch: skipped after an error, it still
                              ///< needs a ReadyForQuery
  bool maybe_eaten = false;   ///< a Sync that the server may have read as part of COPY data
  bool behind_data = false;   ///< a Sync sent behind CopyData
  bool surely_eaten = false;  ///< .. that stands in front of all the data of the COPY that eats it
  bool at_top = false;        ///< a pin that was sent when no savepoint could be open
  bool modifies = false;      ///< an as_extended whose rows come only when it has succeeded
  bool copying_in = false;    ///< CopyInResponse or CopyBothResponse was seen
  std::uint8_t step = 0;      ///< progress of pin_batch and as_extended
  std::uint16_t next_prepare = 0;          ///< PREPARE tags seen, and
  std::uint16_t next_deallocate = 0;       ///< DEALLOCATE tags seen, of sql_names
  named_statement* statement = nullptr;    ///< parse
  std::shared_ptr<const std::string> name; ///< close: the statement's name
  std::shared_ptr<const sql::text_verdict> sql_names;
  std::shared_ptr<const prepared_text> source; ///< the text that sql_names was read from
};

/// A ring: first in, first out, without allocation once it has grown to a session's habit.
class reply_queue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  expected_reply& front() { return ring_[head_]; }
  expected_reply& at(std::size_t index) { return ring_[(head_ + index) & (ring_.size() - 1)]; }
  const expected_reply& at(std::size_t index) const { return ring_[(head_ + index) & (ring_.size() - 1)]; }
  expected_reply& back() { return at(size_ - 1); }

  /// The returned reference is good until the next push.
  expected_reply& push(reply_kind kind, reply_owner owner, reply_purpose purpose = reply_purpose::none);
  void pop();
  /// Removes the entry at `index`, keeping the order of the others.
  void remove(std::size_t index);

 private:
  void grow();

  std::vector<expected_reply> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

} // namespace ledgergate::gate
