// Decides from a statement's text whether it touches the ledger, and what the gate engine must know to pin
// it. Pure: no I/O, no clock. One classifier is built from the settings and shared, immutable, by all
// sessions and threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace ledgergate::sql {

/// What a text does to the gate. Ordered: the larger one wins when a text holds several statements.
enum class touch_kind : std::uint8_t {
  none,       ///< relayed byte for byte
  touch,      ///< needs the shared gate lock before it looks
  transition, ///< writes or row-locks the control row: needs the applier key, then the exclusive gate lock
};

/// Why: label of the metric and of the log line.
enum class touch_reason : std::uint8_t {
  not_mentioned,   ///< no gated name and nothing that can hide one
  no_rule_matches, ///< mentioned, parsed, and no rule matched
  table,           ///< a rule of gate.tables matched (`name` says which)
  function,        ///< a function of gate.functions is called
  control_row,     ///< the control row is read (touch) or written / locked FOR [NO KEY] UPDATE (transition)
  advisory_lock,   ///< takes an advisory lock whose namespace is in gate.pin_before_locks
  do_block,        ///< DO is always a touch: its body cannot be read
  unparsed,        ///< the parser could not read it: fail closed
  new_definition,  ///< CREATE or ALTER of something that names what is gated: until the catalog has been read
                   ///< again, anything may lead to the ledger
  catalog,         ///< the catalogs say that it leads to the ledger: a view, a trigger, a foreign key, ..
};

/// How the server runs the text, as far as the choice of a pin needs it.
enum class text_shape : std::uint8_t {
  plain_dml, ///< one SELECT, INSERT, UPDATE, DELETE, MERGE, VALUES or TABLE without parameter references
  dml_with_params, ///< the same with $n in it
  other_single,    ///< one statement of any other kind (CALL, COPY, DO, DECLARE, EXPLAIN, SELECT INTO, ...)
  several,         ///< more than one statement
  empty,           ///< no statement
  unknown,         ///< not parsed (not a candidate, or unparseable)
};

/// Transaction control as one statement of a text.
enum class control_kind : std::uint8_t {
  none,
  begin,    ///< BEGIN, START TRANSACTION
  commit,   ///< COMMIT, END (no chain)
  rollback, ///< ROLLBACK, ABORT (no chain)
  commit_and_chain,
  rollback_and_chain,
  savepoint,
  release,
  rollback_to,
  prepare_transaction,
  other_two_phase, ///< COMMIT PREPARED, ROLLBACK PREPARED
  set_transaction, ///< SET TRANSACTION .., SET SESSION CHARACTERISTICS
};

/// What a text may do to the isolation level of its transaction or session.
enum class isolation_mention : std::uint8_t {
  none,              ///< nothing in it can change a level
  begins_low,        ///< exactly one BEGIN whose level is READ COMMITTED or READ UNCOMMITTED
  transaction_doubt, ///< one BEGIN or SET TRANSACTION that may set the level of its transaction; the default
                     ///< stays
  doubt,             ///< something in it may set a level: SET, RESET, set_config, DISCARD, another BEGIN
};

/// SQL-level PREPARE name AS ..: what the named statement does when executed.
struct prepared_by_sql {
  std::string name;
  touch_kind touch = touch_kind::none;
  bool drops_session_locks = false; ///< as in text_verdict, when it is executed
};

/// The verdict on one text (the string of a Query or of a Parse). For the common text, one that mentions
/// nothing, only `touch`, `reason` and `isolation` are filled and building it allocates nothing:
/// leading_control_statement() and single_control_statement() read such a text.
struct text_verdict {
  touch_kind touch = touch_kind::none;
  touch_reason reason = touch_reason::not_mentioned;
  text_shape shape = text_shape::unknown;
  bool has_transaction_control = false;    ///< any control_kind but set_transaction, anywhere in the text
  control_kind first = control_kind::none; ///< what the first statement is, when it is transaction control
  bool prepares_transaction = false;       ///< PREPARE TRANSACTION is among the statements
  bool only_prepares_at_its_end = false;   ///< .. as the last one, and no other transaction control is
  /// DISCARD ALL, pg_advisory_unlock_all, pg_advisory_unlock_shared, also named inside a DO block: a
  /// session-level hold may be gone after it.
  bool drops_session_locks = false;
  bool modifies = false;           ///< INSERT, UPDATE, DELETE or MERGE, also inside WITH
  bool may_commit_inside = false;  ///< CALL or DO: procedures may commit, which drops a transaction-level pin
  bool forgets_statements = false; ///< DEALLOCATE ALL or DISCARD ALL
  bool redefines_unseen = false;   ///< DO with PREPARE, DEALLOCATE or DISCARD in it: any name may change
  /// CREATE or ALTER beside a gated name (or DO with these words in it): may open a new way to the ledger.
  bool defines_a_way = false;
  isolation_mention isolation = isolation_mention::none;
  /// Static label when reason is unparsed: syntax, too_deep, too_long, encoding, escape.
  const char* parse_error = nullptr;
  std::string name;                      ///< the gated name that matched; for logs and explain
  std::vector<prepared_by_sql> prepares; ///< SQL PREPARE statements of the text
  /// Names in SQL EXECUTE: the session resolves them; an unknown name is a touch.
  std::vector<std::string> executes;
  std::vector<std::string> deallocates; ///< names in SQL DEALLOCATE
};

/// How this session's server reads texts; changes with ParameterStatus.
struct reading_context {
  bool standard_conforming_strings = true;
  bool utf8_safe_encoding = true; ///< false for client encodings in which ASCII bytes occur inside characters
  bool utf8 = true; ///< client_encoding and server_encoding are UTF8: names beyond ASCII compare as bytes
};

/// True for client_encoding names whose multibyte characters contain ASCII bytes (SJIS, BIG5, GBK, UHC,
/// GB18030, JOHAB, ...).
bool encoding_hides_ascii(std::string_view client_encoding);

struct catalog_closure;
struct explained_text;

class classifier {
 public:
  /// Without a closure the configured names alone count.
  explicit classifier(const config::settings& settings,
                      std::shared_ptr<const catalog_closure> closure = nullptr);
  ~classifier();
  classifier(const classifier&) = delete;
  classifier& operator=(const classifier&) = delete;

  /// Classifies a text as the server would read it. `text` need not be terminated; no length limit applies
  /// here.
  text_verdict classify(std::string_view text, const reading_context& context) const;

  /// Whether classify() would go past the mention test: the cheap part alone (well under a microsecond for
  /// 300 bytes).
  bool is_candidate(std::string_view text, const reading_context& context) const;

  /// The same verdict with what stands behind it, whether or not a name is mentioned. Slower.
  explained_text explain(std::string_view text, const reading_context& context) const;

  /// A function called by its OID (FunctionCall), other than PostgreSQL's own: a touch unless the catalogs
  /// know that it does not lead to the ledger.
  touch_kind judge_function(std::uint32_t oid) const;

  /// A parameter's type, known by its OID (Parse): making a value of it may call what leads to the ledger, or
  /// a cast of it may.
  touch_kind judge_type(std::uint32_t oid) const;

 private:
  struct impl;
  std::unique_ptr<const impl> impl_;
};

/// Reads the leading keywords only (white space, comments and empty statements skipped) and says which
/// transaction control a text that is one statement is; `none` for everything else, also for texts with more
/// than one statement. Cheap, no parser.
control_kind single_control_statement(std::string_view text);

/// The same without the check that nothing follows: what the first statement of the text is.
control_kind leading_control_statement(std::string_view text);

/// The text up to the end of its first statement and of all SET TRANSACTION that follow it at once, leading
/// comments and empty statements included, the last semicolon not.
std::string_view leading_settings(std::string_view text);

const char* to_string(touch_kind);
const char* to_string(touch_reason);
const char* to_string(text_shape);

} // namespace ledgergate::sql
