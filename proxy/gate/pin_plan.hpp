// When and how to pin: the one table that decides, as pure functions. The rows are explained in README.md of
// this folder.
#pragma once

#include <cstdint>

#include "proxy/gate/isolation.hpp"
#include "proxy/sql/classifier.hpp"

namespace ledgergate::gate {

enum class pin_plan : std::uint8_t {
  forward, ///< nothing to do: pinned already, or a failed transaction in which the statement fails by itself
  function_call, ///< FunctionCall of the transaction-level lock, in the same write
  in_batch, ///< Parse/Bind/Execute of the lock inside the client's batch: right in every transaction state
  in_batch_with_session, ///< the same, session-level lock as well
  as_extended,           ///< the client's text through the extended protocol, behind the lock
  envelope,              ///< session-level lock, confirmed before the message goes on
  envelope_from_failed,  ///< an envelope in a failed transaction that the text itself leaves (F16)
  run_first_statement,   ///< the first statement of the text alone: it must come before any snapshot (F9)
  ask_level,             ///< ask the server for the isolation level of the open transaction, then plan again
  prove,                 ///< REPEATABLE READ or SERIALIZABLE: the pin, and a snapshot young enough (F3)
  prove_with_session,    ///< the same, and a session-level lock for a text that ends the transaction
  wait_idle,             ///< the state is only predicted: hold the message until every reply is in
  wait_base,             ///< the state before this batch is only predicted: hold until it is known
  pin_for_prepare,       ///< the transaction's own lock in place of any hold (F12)
  refuse,                ///< cannot be pinned in this place: answered with an error
};

/// Nothing goes to the server: the message stays where it is, or goes as it is.
bool waits(pin_plan plan);

/// A simple Query or a client's FunctionCall that needs a pin it does not have.
struct simple_situation {
  bool replies_outstanding = false; ///< anything in flight: the state is a prediction
  bool batch_open = false;          ///< extended messages were sent and no Sync yet
  bool bound_in_batch = true;       ///< with batch_open: something was bound or executed in it
  bool base_known = true;           ///< with batch_open: every reply to what was sent before the batch is in
  bool function_call = false;       ///< the client's own FunctionCall
  bool replication = false;         ///< neither FunctionCall nor the extended protocol exists here
  char status = 'I';                ///< letter of the last ReadyForQuery
  bool failed_for_sure = false;     ///< the transaction has failed, and nothing in flight can end it
  bool held = false;                ///< a session-level hold is there already
  sql::text_shape shape = sql::text_shape::unknown;
  bool has_transaction_control = false;
  bool drops_session_locks = false;
  bool prepares_transaction = false;     ///< PREPARE TRANSACTION stands in the text
  bool only_prepares_at_its_end = false; ///< .. as its last statement, and no other transaction control does
  sql::control_kind first = sql::control_kind::none; ///< the first statement of the text
  bool unread = false;                               ///< the text could not be parsed
  bool first_ran = false;                            ///< run_first_statement was carried out for this message
  bool may_wait = true; ///< false while COPY data is expected: waiting would never end
  isolation_level block_level = isolation_level::low;   ///< of the open transaction, as far as it is known
  isolation_level default_level = isolation_level::low; ///< of the session
};
pin_plan plan_simple(const simple_situation&);

/// A Bind or Execute that needs a pin it does not have.
struct batch_situation {
  bool base_known = true;        ///< every reply to what was sent before this batch is in
  char base_status = 'I';        ///< valid when base_known
  bool failed_for_sure = false;  ///< the transaction has failed, and nothing sent since can end it
  bool begin_in_batch = false;   ///< BEGIN was executed earlier in this batch
  bool end_in_batch = false;     ///< COMMIT, ROLLBACK or something unknown was executed earlier in this batch
  bool chained_in_batch = false; ///< .. AND CHAIN: the block behind it keeps the level of the one before
  bool bound_in_batch = false;   ///< anything was bound or executed earlier in this batch
  bool level_set_in_batch = false; ///< something that may have set the transaction's level was executed in it
  bool savepoint_possible = false;
  bool plain_dml = true;
  bool may_commit_inside = false;
  bool held = false; ///< a session-level hold is there already, and the statement may drop it
  isolation_level block_level = isolation_level::low;
  isolation_level default_level = isolation_level::low;

  /// The message runs in a transaction block, if it runs at all.
  bool in_block() const { return (begin_in_batch || (base_known && base_status == 'T')) && !end_in_batch; }
};
pin_plan plan_batch(const batch_situation&);

} // namespace ledgergate::gate
