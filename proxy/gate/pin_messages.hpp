// The bytes of every pin, made once from the keys. Every name is schema-qualified and every literal is a
// typed constant, so that a session's search_path cannot redirect the lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ledgergate::gate {

/// How strong a pin must be: shared for a touch, exclusive (applier key first, when there is one) for a
/// transition.
enum class pin_strength : std::uint8_t { none = 0, shared = 1, exclusive = 2 };

/// Messages that take or give back the locks of one strength. A string may hold several messages; the counts
/// say how many.
struct lock_messages {
  std::string transaction_calls; ///< FunctionCalls: transaction-level locks
  unsigned transaction_call_count = 0;
  std::string session_calls; ///< FunctionCalls: session-level locks, in lock order
  unsigned session_call_count = 0;
  std::string session_release_calls; ///< FunctionCalls: the session-level locks given back
  unsigned session_release_call_count = 0;
  std::string session_query; ///< the same as one simple Query, for connections that refuse FunctionCall
  std::string session_release_query;
  std::string batch; ///< Close(S) Parse Bind Execute Close(P) Close(S): transaction-level locks (F21, F32)
  std::string batch_with_session; ///< the same, session-level locks as well (F5)
};

struct pin_messages {
  lock_messages shared;
  lock_messages exclusive;
  std::string close_unnamed_statement;
  /// What follows the pin and the Parse when a simple query is sent as extended: Bind Describe(portal)
  /// Execute Close(S) Sync.
  std::string as_extended_prefix; ///< Close(S, unnamed) Close(P, unnamed)
  std::string as_extended_suffix;
  std::string ask_default_isolation; ///< FunctionCall of current_setting('default_transaction_isolation')
  std::string ask_isolation;         ///< .. 'transaction_isolation'
  std::string ask_read_only;         ///< .. 'transaction_read_only'
  std::string ask_snapshot;          ///< FunctionCall of pg_current_snapshot(), result in binary form
  std::string
      rollback_and_chain;    ///< simple Query: leaves a failed transaction and opens one of the same kind
  std::string failing_call;  ///< a FunctionCall that fails in every state
  std::string failing_query; ///< the same as a simple Query, for connections that refuse FunctionCall
  std::string failing_bind;  ///< a Bind that fails in every state and harms nothing
  std::string sync;

  const lock_messages& of(pin_strength strength) const {
    return strength == pin_strength::exclusive ? exclusive : shared;
  }
};

pin_messages make_pin_messages(std::int64_t lock_key, std::optional<std::int64_t> applier_lock_key);

} // namespace ledgergate::gate
