// The inside of session_engine. One class, its methods in files by topic:
//   engine_client.cpp    the client's stream: framing, start-up, COPY
//   engine_query.cpp     simple Query and FunctionCall
//   engine_extended.cpp  the client's extended-protocol messages
//   engine_names.cpp     what a statement name does, and what a change of the catalog does to that
//   engine_isolation.cpp what the transaction's isolation level asks for besides the pin
//   engine_pins.cpp      putting locks on the wire and giving them back
//   engine_server.cpp    the server's stream: framing, ReadyForQuery, COPY
//   engine_replies.cpp   pairing replies with what is expected, errors, command tags
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/tags.hpp"
#include "proxy/gate/actions.hpp"
#include "proxy/gate/counters.hpp"
#include "proxy/gate/gate_rules.hpp"
#include "proxy/gate/isolation.hpp"
#include "proxy/gate/pin_plan.hpp"
#include "proxy/gate/reply_queue.hpp"
#include "proxy/gate/session_engine.hpp"
#include "proxy/gate/session_hold.hpp"
#include "proxy/gate/statement_names.hpp"

namespace ledgergate::gate {

/// Objects with smaller OIDs are PostgreSQL's own: by themselves they lead to no table of the ledger.
inline constexpr std::uint32_t first_normal_object_id = 16384;

class engine_core {
 public:
  engine_core(std::shared_ptr<const gate_rules> rules, session_kind kind, statement_counters& counters);

  std::size_t on_client_bytes(std::string_view bytes, actions& out);
  std::size_t on_server_bytes(std::string_view bytes, actions& out);

  void on_control_row(std::optional<std::uint64_t> writer, actions& out);
  void use_rules(std::shared_ptr<const gate_rules> rules) { rules_ = std::move(rules); }
  void on_catalog(bool current, actions& out);

  bool client_paused() const { return wait_ != wait_for::nothing; }
  std::size_t client_bytes_wanted() const { return client_wanted_; }
  std::size_t server_bytes_wanted() const { return server_wanted_; }
  bool is_raw() const { return kind_ == session_kind::ungated && !starting_; }
  bool replies_outstanding() const;
  bool awaits_client() const;
  char transaction_status() const { return status_; }
  bool pinned() const;

 private:
  /// What happens to a message. Every message of either side gets exactly one of forward and discard.
  enum class fate : std::uint8_t { forward, discard, hold };

  struct frame {
    char tag = 0;
    std::size_t total = 0; ///< bytes of the whole message, header included
    std::string_view body; ///< as much of the body as is there
    bool whole = false;

    /// The message as it came. Of a whole one only.
    std::string copy() const { return std::string(body.data() - protocol::header_bytes, total); }
  };

  /// Why the client side is paused.
  enum class wait_for : std::uint8_t {
    nothing,
    startup,     ///< the session is not ready yet
    idle,        ///< every reply must be in
    base,        ///< every reply to what was sent before the open batch must be in
    envelope,    ///< a session-level lock must be granted, or an inquiry answered
    control_row, ///< the control connection must say who last wrote the control row
    catalog,     ///< the catalog must be read again
    room,        ///< too many replies are expected
  };

  /// The extended messages since the last boundary (Sync, simple Query, FunctionCall).
  struct extended_batch {
    bool open = false;
    bool begin = false;      ///< BEGIN was executed in it
    bool left_block = false; ///< the block it was sent in was ended in it: what is known of its level is over
    bool chained = false;    ///< COMMIT or ROLLBACK AND CHAIN was executed in it
    bool end = false;        ///< COMMIT, ROLLBACK or something unknown was executed in it
    bool bound = false;      ///< anything was bound or executed in it
    bool level_set = false;  ///< something that may have set the transaction's level was executed in it
    bool refused = false;    ///< something in it was refused: the server skips the rest
    pin_strength held = pin_strength::none; ///< a session-level lock went out in it
    bool commit_last = false;               ///< its last transaction control is a plain COMMIT or ROLLBACK
    pin_strength pinned =
        pin_strength::none; ///< a pin went out in it and nothing after that may have dropped it
    std::size_t base_outstanding =
        0; ///< entries at the front of the queue that belong to what was sent before
  };

  /// An envelope, or an inquiry into the isolation level, under way: own calls in front of a message that
  /// waits for their answers.
  struct envelope {
    unsigned remaining = 0;
    pin_strength strength = pin_strength::none;
    bool in_batch = false;   ///< in front of a Bind: on failure the rest of the batch is dropped
    bool was_failed = false; ///< it began in a failed transaction
    bool failed = false;
    bool doubtful = false; ///< the call that failed may have taken its lock all the same
    std::string notices;   ///< what came in front of the error
    std::string error;     ///< the first ErrorResponse, whole
  };

  // engine_client.cpp
  static bool part_of_copy(char tag);
  static std::size_t run_bytes(std::string_view view, char tag, char other_tag);
  bool read_client_frame(std::string_view view, frame& out);
  std::size_t client_front_bytes(char tag, std::size_t total) const;
  fate on_client_frame(const frame& message);
  fate on_startup_client_frame(const frame& message);
  bool must_wait_for_release(char tag) const;
  fate on_copy_end();

  // engine_query.cpp
  fate on_query(const frame& message);
  sql::touch_kind touch_of_function(std::uint32_t oid) const;
  fate on_function_call(const frame& message);
  sql::text_verdict classify_query(const frame& message);
  fate pin_simple(const sql::text_verdict& verdict, bool function_call, std::string_view text);
  simple_situation situation_of(const sql::text_verdict& verdict, bool function_call) const;
  fate ready_for_prepare(sql::text_shape shape);
  void push_query(const sql::text_verdict& verdict, std::string_view text);
  void mark_redefiner(expected_reply& entry, const sql::text_verdict* names);
  void mark_under_hold(expected_reply& entry);
  bool hold_is_early_enough(sql::control_kind first) const;
  void forget_under_hold();
  void mark_hold_dropper(expected_reply& entry, bool drops);
  bool pin_what_the_hold_covers(const sql::text_verdict& verdict, sql::control_kind control);
  void back_hold_with_pin(pin_strength strength, bool impossible);
  void leave_to_server(std::string_view header);
  void count(sql::touch_kind touch);
  void see_front(const sql::text_verdict& verdict, std::string_view text);
  void note_touch(const sql::text_verdict& verdict);
  void note_observed(sql::touch_kind touch, sql::touch_reason reason, std::string_view name,
                     std::string_view text);

  // engine_extended.cpp
  fate on_parse(const frame& message);
  fate on_bind(const frame& message);
  fate on_execute(const frame& message);
  fate on_describe(const frame& message);
  fate on_close(const frame& message);
  fate on_sync();
  void open_batch();
  fate pin_extended(const statement_class& statement);
  batch_situation situation_of(const statement_class& statement) const;
  isolation_level block_level_in_batch() const;
  bool pinned_in_batch(const statement_class& statement, const batch_situation& now) const;
  void back_hold_in_batch(const statement_class& statement, const batch_situation& now);
  fate pin_what_the_hold_covers_in_batch(const statement_class& statement);
  void after_execute(const statement_class& statement);
  fate ready_for_prepare();

  // engine_names.cpp
  bool name_doubtful(std::string_view name) const;
  std::shared_ptr<const prepared_text> kept_text(std::string_view text, std::string_view types = {}) const;
  void judge_parameters(sql::text_verdict& verdict, std::string_view types) const;
  statement_class judged_again(const statement_class& old) const;
  void judge_again(std::string_view name);
  statement_class class_of_statement(std::string_view name);
  statement_class with_sql_names(statement_class statement);
  void doubt(statement_class& statement) const;
  void doubt(sql::text_verdict& verdict, std::string_view text) const;
  void mark_definition(expected_reply& entry, bool defines);
  bool wait_for_catalog();

  // engine_isolation.cpp
  void learn_default_level();
  void on_isolation_mention(sql::isolation_mention mention);
  isolation_level transaction_level() const;
  isolation_level default_level() const;
  void forget_level(bool session_idle);
  void examine_level(pin_strength strength, bool in_batch);
  void pin_and_prove(pin_strength strength, bool in_batch, bool with_session);
  void begin_inquiry(pin_strength strength, bool in_batch, unsigned calls);
  void on_inquiry_result(const expected_reply& entry, std::string_view body);
  void finish_inquiry(bool proving);
  void refuse_stale(bool in_batch);
  bool take_stale();

  // engine_pins.cpp
  void inject_function_call_pin(pin_strength strength);
  void inject_transaction_calls(pin_strength strength);
  void inject_pin_for_prepare(pin_strength strength);
  void pin_succeeded(const expected_reply& entry, pin_shape shape);
  void hold_dropped();
  static bool may_have_locked(pin_strength strength, std::string_view sqlstate);
  void inject_batch_pin(pin_strength strength, bool session_lock);
  void inject_as_extended(pin_strength strength, std::string_view text, bool modifies);
  void inject_envelope(pin_strength strength, bool in_batch);
  void inject_first_statement(std::string_view text);
  void inject_envelope_from_failed(pin_strength strength);
  void inject_release();
  void inject_calls(std::string_view bytes, unsigned calls, reply_purpose purpose, pin_strength strength);
  void refuse_unpinnable();
  void refuse_simple(std::string_view sqlstate, std::string_view message, std::string_view hint);
  void refuse_in_batch(std::string_view sqlstate, std::string_view message, std::string_view hint);
  void note_refusal(std::string_view sqlstate);
  void finish_envelope();
  void answer_failed_envelope();
  void finish_release(const expected_reply& entry);
  void release_ready();
  void note_failed_release(const expected_reply& entry, bool failed);
  void note_pin(note::kind what, pin_shape shape, std::string_view sqlstate = {});
  bool denied(sql::touch_kind touch) const;
  void note_upgrade(pin_strength strength);

  // engine_server.cpp
  bool rows_pass() const;
  bool read_server_frame(std::string_view view, frame& out);
  fate on_server_frame(const frame& message);
  fate on_startup_server_frame(const frame& message);
  fate on_ready_for_query(const frame& message);
  fate finish_client_ready(char status);
  void on_copy_response();
  void on_parameter_status(std::string_view body);
  void update_waits();

  // engine_replies.cpp
  void settle_front(char tag);
  fate on_error(const frame& message);
  fate on_error_of(expected_reply& entry, const frame& message);
  fate on_notice(const frame& message);
  fate on_reply(const frame& message);
  fate on_function_result(std::string_view body);
  fate on_pin_batch_reply(char tag);
  fate on_as_extended_reply(const frame& message);
  void release_row_description();
  void release_command_complete();
  void on_command_tag(std::string_view tag, expected_reply& entry);
  bool eaten_by_copy() const;
  void fail_batch(bool pin_failed);
  void drop_front();
  fate mismatch();

  bool idle() const;
  bool failed_for_sure() const { return status_ == 'E' && droppers_in_flight_ == 0 && !state_moved_; }
  bool only_releases_outstanding() const;
  bool base_known() const;
  bool leftovers_only(std::size_t count) const;
  bool savepoint_possible() const;
  bool hold_covers(pin_strength strength) const;
  bool pin_covers(pin_strength strength) const;
  bool survives_savepoints(pin_strength strength) const;
  void forget_pin();
  pin_strength strength_of(sql::touch_kind touch) const;
  bool keeps(gate_rule rule) const { return rules_->rules.keeps(rule); }

  std::shared_ptr<const gate_rules> rules_;
  const session_kind kind_;
  statement_counters& counters_;
  actions* out_ = nullptr; ///< valid during a call

  // Start-up.
  bool starting_ = true;
  bool authentication_asks_ = false; ///< the server waits for a password message

  // The streams.
  std::size_t client_rest_ = 0; ///< bytes still to come of a client message already decided
  fate client_rest_fate_ = fate::forward;
  std::size_t server_rest_ = 0;
  fate server_rest_fate_ = fate::forward;
  std::size_t client_wanted_ = 0;
  std::size_t server_wanted_ = 0;
  bool client_left_to_server_ =
      false; ///< a malformed header was forwarded: the server will end the session, nothing more goes to it
  bool observed_ = false; ///< gate.mode observe: something would have been pinned since the session was idle
  bool front_seen_ = false;      ///< the client message at the front was counted before it had to wait
  bool first_ran_ = false;       ///< its first statement ran alone already
  bool discard_front_ = false;   ///< the client message at the front was answered already
  bool discard_to_sync_ = false; ///< the client's batch was answered with an error by an envelope
  bool skipping_ = false;        ///< the server ignores everything up to the next Sync
  wait_for wait_ = wait_for::nothing;

  // What is expected and known.
  reply_queue queue_;
  std::size_t droppers_in_flight_ = 0; ///< entries that may drop a transaction-level pin
  std::size_t queries_in_flight_ = 0;  ///< simple queries of the client: any of them may open a savepoint
  std::size_t pins_in_flight_ = 0;
  std::size_t redefiners_in_flight_ = 0; ///< entries that redefine statement names by SQL
  unsigned batch_serial_ =
      0; ///< number of the open batch, or of its part behind the last redefinition by SQL
  bool as_extended_in_flight_ = false;
  bool batch_goes_on_ = false;         ///< a COPY has eaten the Sync: for the server the batch is still open
  bool unnamed_closed_behind_ = false; ///< what was sent behind it drops the unnamed statement in any case
  char status_ = 0;
  bool state_moved_ =
      false; ///< something that may end the transaction was answered since the last ReadyForQuery
  bool savepoint_maybe_ = false;
  pin_strength pin_known_ =
      pin_strength::none; ///< transaction-level, its success was seen in this transaction
  pin_strength pin_at_top_ = pin_strength::none; ///< the same, and no savepoint was open when it was taken
  pin_strength under_hold_ =
      pin_strength::none; ///< a touch of this transaction may be covered by a session-level hold alone
  pin_strength next_under_hold_ = pin_strength::none; ///< the same of the message that is about to be sent
  bool pin_error_sent_ =
      false; ///< a FunctionCall pin failed: the error of the message behind it is not the client's
  bool data_sent_ = false;    ///< CopyData behind the last Execute, and not its end
  bool copy_in_open_ = false; ///< COPY FROM STDIN or START_REPLICATION awaits the client's data
  bool owed_close_unnamed_ =
      false; ///< a simple query sent as extended failed: the unnamed statement is still there
  unsigned ready_held_ =
      0; ///< ReadyForQuery messages of the client that wait for a release or for the catalog
  bool release_set_failed_ = false; ///< a call of the set of release calls that is being answered failed
  unsigned release_tries_ = 0;
  bool catalog_doubted_ = false; ///< something was defined and the catalog was not read since
  std::string held_command_complete_;
  std::string held_row_description_; ///< of a statement that modifies: shown when it has succeeded
  isolation_level default_level_ = isolation_level::unknown; ///< of the session
  isolation_level level_ = isolation_level::unknown;         ///< of the open transaction, as the server said
  bool default_asked_ = false;                               ///< the answer is under way
  bool default_doubted_ = false;                             ///< and may be out of date
  bool level_doubted_ = false;                               ///< a text may have set the transaction's level
  bool level_low_ = false; ///< the transaction began with a level that needs no proof
  bool stale_ = false;     ///< the proof failed: the message at the front is answered with 40001
  std::optional<snapshot> snapshot_;
  session_hold hold_;
  envelope envelope_;
  extended_batch batch_;
  statement_names names_;
  portals portals_;
  bool client_utf8_ = true;
  bool server_utf8_ = true;
  sql::reading_context reading_;
};

} // namespace ledgergate::gate
