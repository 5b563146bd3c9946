// The SQL that the model server understands: what clients of the simulation send, what the gate engine and
// the transition engine put in front, and what the conversation scripts say. Read by words, not by a grammar:
// it shares nothing with proxy/sql.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/lock_manager.hpp"

namespace ledgergate::simulation {

/// The keys of the simulated world; the conversation scripts have the same.
inline constexpr lock_key gate_key = 1263879245;
inline constexpr lock_key applier_key = 1263879247;
/// Row locks and two-key advisory locks live beside the advisory keys.
inline constexpr lock_key row_keys = lock_key{1} << 40;
inline constexpr lock_key control_row_key = row_keys;
inline constexpr lock_key pair_keys = lock_key{1} << 41;

/// A function of the users' that touches the ledger, by its OID.
inline constexpr std::uint32_t touching_function = 20001;

enum class verb : std::uint8_t {
  nothing, ///< empty or only comments
  begin,
  commit,
  rollback,
  savepoint,
  release,
  rollback_to,
  prepare_transaction,
  commit_prepared,
  rollback_prepared,
  set_transaction,
  set,
  reset,
  select, ///< also every other statement that returns rows from one snapshot
  modify, ///< INSERT, UPDATE, DELETE
  call,
  do_block,
  copy_in,
  copy_out,
  declare,
  fetch,
  close_cursor,
  prepare,
  execute,
  deallocate,
  deallocate_all,
  discard_all,
  discard_some,
  lock_table,
  define_view,
  utility, ///< LISTEN, NOTIFY and other statements without an effect in the model
};

enum class isolation : std::uint8_t { read_committed, repeatable_read };

enum class failure : std::uint8_t {
  none,
  syntax,    ///< 42601 before anything
  analysis,  ///< 42P01
  planning,  ///< 22012 before the first row is described
  execution, ///< 22012 behind the first row
  commit,    ///< 23503 when the transaction commits
};

/// What a function call in a statement does to advisory locks, in the order of the text.
struct advisory_call {
  enum class kind : std::uint8_t { lock, unlock, unlock_all, try_lock } what = kind::lock;
  lock_key key = 0;
  lock_mode mode = lock_mode::exclusive;
  bool session = false;
};

/// Answers of the model's own to the texts of the transition engine.
enum class known_query : std::uint8_t { none, control_row, pins, grant_facts, rival, standbys, outcome };

struct model_statement {
  verb what = verb::nothing;
  std::string tag;   ///< of CommandComplete, without row counts
  std::string name;  ///< savepoint, gid, cursor, prepared statement, setting
  std::string value; ///< of SET; the new mode
  bool chain = false;
  bool hold = false;    ///< DECLARE .. WITH HOLD
  std::string view;     ///< whose rows it reads, or that it defines: `v` and digits
  bool replace = false; ///< CREATE OR REPLACE
  std::optional<isolation> level;
  std::optional<bool> read_only;
  failure fails = failure::none;
  bool looks = false;        ///< touches the ledger or reads the control row
  bool writes = false;       ///< of any table
  bool changes_mode = false; ///< writes or row-locks the control row
  bool sets_mode = false;    ///< writes it
  bool returning = false;
  bool parameter = false;      ///< $1 stands in it
  bool commits_inside = false; ///< of CALL and DO
  unsigned rows = 1;           ///< that it returns or inserts
  std::optional<lock_key> row; ///< row lock that it takes
  std::vector<advisory_call> advisory;
  known_query known = known_query::none;
  std::shared_ptr<const model_statement> inner; ///< of PREPARE and DECLARE

  bool is_transaction_control() const;
  /// COMMIT, ROLLBACK, ROLLBACK TO, PREPARE TRANSACTION: run in a failed transaction too.
  bool leaves_transaction() const;
  /// Takes a snapshot while it is analysed (analyze_requires_snapshot).
  bool analysis_takes_snapshot() const;
  bool returns_rows() const;
  /// Not one of the utility statements that do without (PlannedStmtRequiresSnapshot).
  bool run_takes_snapshot() const;
};

/// A text split at its semicolons; empty parts are left out. Nothing when it does not parse.
std::optional<std::vector<std::shared_ptr<const model_statement>>> read_text(std::string_view text);

} // namespace ledgergate::simulation
