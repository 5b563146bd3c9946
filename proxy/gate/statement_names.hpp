// Prepared statements and portals of one session and what each does to the gate.
// Protocol-level Parse and SQL-level PREPARE share one namespace on the server, and so they do here. A name
// changes its class only when the server's success is seen; until then a look-up answers for the old and the
// new class at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/sql/classifier.hpp"

namespace ledgergate::gate {

/// Where a class came from, so that it can be judged again when the rules change.
struct prepared_text {
  std::string text;
  sql::reading_context reading;
  std::string parameter_types = {}; ///< as Parse gave them
};
/// Longer texts are not kept: a statement made from one touches once the rules have changed.
inline constexpr std::size_t max_kept_text_bytes = 16 * 1024;

/// What executing a statement does, as far as the gate cares.
struct statement_class {
  sql::touch_kind touch = sql::touch_kind::none;
  sql::touch_reason reason = sql::touch_reason::not_mentioned;
  bool plain_dml = true; ///< may be pinned in its batch whatever the transaction state is
  bool may_commit_inside =
      false; ///< CALL, DO: outside a transaction block only a session-level hold survives it
  bool drops_session_locks = false;
  bool control_unknown = false; ///< two classes are possible and differ in their transaction control
  sql::control_kind control = sql::control_kind::none;
  sql::isolation_mention isolation = sql::isolation_mention::none;
  /// Names in PREPARE, EXECUTE and DEALLOCATE statements; null for nearly every statement.
  std::shared_ptr<const sql::text_verdict> sql_names;
  std::uint64_t generation = 0;                ///< of the rules that judged it
  bool defines_a_way = false;                  ///< as in text_verdict
  int prepare_index = -1;                      ///< made by the PREPARE statement of this number in the source
  std::shared_ptr<const prepared_text> source; ///< null for unnamed statements and for what is too long

  /// May leave the transaction as it was, and with it drop a transaction-level pin.
  bool may_drop_pin() const;
};

/// Ends the transaction or goes back to a savepoint of it.
bool leaves_transaction(sql::control_kind control);
/// Has to come before the transaction's first snapshot (F9); BEGIN inside a block sets the same properties.
bool sets_transaction_up(sql::control_kind control);
/// PREPARE, DEALLOCATE, DISCARD, or DO with such words in it.
bool redefines_names(const sql::text_verdict& verdict);

statement_class class_of(const sql::text_verdict& verdict);
/// EXECUTE or Bind of a name that nothing is known of is a touch. Only DML can be prepared by SQL.
statement_class unknown_statement();
/// What a name does that may mean this or anything else: at least as much as either.
statement_class doubted(const statement_class& known);
/// What a text or statement does besides when it executes this one (SQL EXECUTE).
template <typename Judged>
void add_executed(Judged& into, const statement_class& executed) {
  if (executed.touch > into.touch) {
    into.touch = executed.touch;
    into.reason = executed.reason;
  }
  if (executed.isolation != sql::isolation_mention::none) into.isolation = sql::isolation_mention::doubt;
  into.drops_session_locks = into.drops_session_locks || executed.drops_session_locks;
}
/// The class that is right whichever of the two is meant.
statement_class merge(const statement_class& a, const statement_class& b);

/// One statement name. Its address is stable while a reply that refers to it is expected.
struct named_statement {
  std::optional<statement_class> current;
  struct parse {
    statement_class statement;
    unsigned batch; ///< in which batch it was sent
  };
  std::vector<parse> pending; ///< Parse messages sent and not yet answered, oldest first
  std::string_view name;
};

class statement_names {
 public:
  statement_names();

  /// A Parse of this name was sent. The reply must be reported with succeeded() or abandoned().
  named_statement* begin_parse(std::string_view name, const statement_class& statement, unsigned batch);
  void succeeded(named_statement* statement);
  void abandoned(named_statement* statement);

  /// PREPARE by SQL succeeded.
  void define(std::string_view name, const statement_class& statement);
  /// Close(S) or DEALLOCATE succeeded.
  void forget(std::string_view name);
  /// DEALLOCATE ALL or DISCARD ALL succeeded. Statements whose Parse is under way stay pending.
  void forget_all();

  /// The server compares names up to 63 bytes.
  static bool same(std::string_view a, std::string_view b);

  /// Any name may have been given another meaning, by SQL that was not seen.
  void doubt_all();

  /// Everything that is known of a name, to be judged again in place; null when nothing is.
  named_statement* entry(std::string_view name);

  /// What the name means to a message of this batch. The last Parse of the same batch decides alone: if it
  /// fails, the message is skipped. Of an earlier batch the old and the new class both count. Nothing when
  /// nothing is known of the name. The server cuts names at 63 bytes when it compares them.
  std::optional<statement_class> find(std::string_view name, unsigned batch) const;
  /// The class of the last Parse of this name if it was sent in this batch.
  std::optional<statement_class> parsed_in(std::string_view name, unsigned batch) const;

  std::size_t size() const { return statements_.size(); }

 private:
  using table = std::map<std::string, named_statement, std::less<>>;
  void erase_if_unused(table::iterator at);

  table statements_;
};

class portals {
 public:
  /// A Bind was sent. A named portal may be the old one if the Bind fails, so it keeps the worse of both.
  void bind(std::string_view name, const statement_class& statement, unsigned batch);
  void close(std::string_view name);
  /// The transaction ended.
  void clear();
  /// What executing it in this batch does: as its last Bind there says, since a message behind a Bind that
  /// fails is skipped.
  std::optional<statement_class> find(std::string_view name, unsigned batch) const;

 private:
  struct bound {
    statement_class any;  ///< of all Binds of the name
    statement_class last; ///< of the last one
    unsigned batch;       ///< in which that was sent
  };
  std::optional<statement_class> unnamed_;
  std::map<std::string, bound, std::less<>> named_;
};

} // namespace ledgergate::gate
