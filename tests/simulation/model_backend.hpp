// One backend of the model server (src/backend/tcop/postgres.c, access/transam/xact.c of PostgreSQL 15):
// frontend messages in, backend messages out, statements that wait for locks in between. It answers like the
// real one as far as the gate can tell: state letters, errors, what is skipped after them, when snapshots are
// taken, when transactions begin and end, what they lock. Rows are the same whatever the data.
//
// A coroutine inside: step() runs it to the next place where something else may happen.
#pragma once

#include <coroutine>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/simulation/model_database.hpp"
#include "tests/simulation/model_statement.hpp"
#include "tests/simulation/random_source.hpp"
#include "tests/simulation/task.hpp"

namespace ledgergate::simulation {

struct model_error {
  std::string sqlstate;
  std::string message;
};
/// Nothing when all went well.
using outcome = std::optional<model_error>;

class model_backend {
 public:
  /// `chance` makes it stop between the steps of a statement and flush early; without it runs straight
  /// through.
  model_backend(model_database& database, server_watcher& watcher, random_source* chance, lock_holder id);
  ~model_backend();
  model_backend(const model_backend&) = delete;
  model_backend& operator=(const model_backend&) = delete;

  void feed(std::string_view bytes) { input_.append(bytes); }
  void end_of_input() { input_over_ = true; }
  bool runnable() const;
  void step();
  void run_all() {
    while (runnable())
      step();
  }
  std::string take_output() { return std::exchange(output_, {}); }

  /// A cancel request: fails what runs, does nothing to an idle backend.
  void cancel();
  /// pg_terminate_backend, or the server's shutdown.
  void terminate();
  bool alive() const { return alive_; }
  lock_holder id() const { return id_; }
  char letter() const;
  bool waiting_for_lock() const { return state_ == doing::locking; }
  /// Idle and with nothing left to read.
  bool at_rest() const { return state_ == doing::reading && !runnable(); }
  /// No transaction, nothing unread, and not skipping.
  bool idle() const { return at_rest() && block_ == block::none && !skipping_; }
  /// Something that needs a data base of its own cannot be known (COMMIT PREPARED of another session's).
  bool unsure() const { return unsure_; }

  /// The next moment at which time() has something to do.
  std::optional<virtual_time> next_moment() const;
  void time();

  std::map<std::string, std::string, std::less<>> settings;

 private:
  enum class doing : std::uint8_t { reading, thinking, locking };
  enum class block : std::uint8_t {
    none,
    started,  ///< a transaction of one command
    implicit, ///< of one text with several statements
    open,     ///< BEGIN
    failed,
  };
  enum class ending : std::uint8_t { none, commit, rollback, prepare };
  enum class wait_end : std::uint8_t { none, cancelled, timed_out };

  struct incoming {
    char tag = 0;
    std::string body;
  };
  struct effect {
    int depth;
    bool fails_at_commit;
    std::string new_mode;
    std::string view;
    bool view_leads;
  };
  struct setting_change {
    int depth;
    bool local;
    std::string name;
    std::optional<std::string> before;
  };
  struct transaction {
    std::uint64_t id = 0;
    isolation level = isolation::read_committed;
    bool read_only = false;
    std::vector<std::pair<int, bool>> read_only_before; ///< depth at which it was set, and what it was
    bool snapshot_taken = false;
    bool over = false;      ///< failed as a whole: it holds nothing any more
    bool pipelined = false; ///< an Execute of it has completed
    std::optional<model_snapshot> fixed;
    std::vector<std::string> savepoints;
    std::vector<effect> effects;
    std::vector<setting_change> changes;
  };
  struct prepared_statement {
    std::shared_ptr<const model_statement> statement; ///< null: empty text
    bool by_sql = false;
  };
  struct portal {
    std::shared_ptr<const model_statement> statement;
    std::optional<model_snapshot> snapshot;
    bool hold = false;
    bool held = false; ///< its transaction is over
    unsigned sent = 0;
    bool done = false;
  };
  using statement_pointer = std::shared_ptr<const model_statement>;

  struct next_message;
  struct pause;
  struct lock_wait;

  // model_backend.cpp: the main loop, what goes out.
  task<int> run();
  task<int> handle(incoming message);
  incoming take_message();
  bool message_ready() const;
  void fail(const model_error& error);
  void ready();
  void send(char tag, std::string_view body = {});
  void send_notice(std::string_view sqlstate, std::string_view message);
  void send_row(const std::vector<std::optional<std::string>>& columns);
  void send_row_description(std::size_t columns);
  void complete(const std::string& tag);
  void flush();
  void stop(std::string_view words);

  // model_transaction.cpp
  void start_command();
  outcome finish_command();
  void abort_command();
  void begin_transaction();
  outcome commit_transaction();
  outcome prepare_transaction();
  void abort_transaction();
  void end_resources(bool committed);
  void abort_subtransactions(std::size_t down_to);
  void revert_settings(int depth, bool committed);
  outcome control(const model_statement& statement);
  outcome end_block(const model_statement& statement, ending how);
  outcome set_characteristics(const model_statement& statement);
  outcome finish_prepared(const model_statement& statement);
  void close_portals();
  int depth() const { return static_cast<int>(transaction_.savepoints.size()); }
  bool in_block() const {
    return block_ == block::open || block_ == block::implicit || block_ == block::failed;
  }
  outcome only_outside(std::string_view what, bool several) const;

  // model_execution.cpp
  model_snapshot take_snapshot();
  void assign_transaction_id();
  const model_statement* rows_of(const model_statement& statement) const;
  task<outcome> run_statement(statement_pointer statement, std::optional<model_snapshot> snapshot,
                              bool several);
  task<outcome> run_data(statement_pointer statement, model_snapshot snapshot);
  task<outcome> run_execute(statement_pointer statement);
  task<outcome> fetch(statement_pointer statement);
  task<outcome> run_body(statement_pointer statement, bool atomic);
  task<outcome> run_copy_in(statement_pointer statement);
  task<outcome> run_advisory(statement_pointer statement);
  task<outcome> acquire(lock_key key, lock_mode mode, lock_owner owner);
  outcome run_session(const model_statement& statement, bool several);
  void forget_statements();
  outcome declare(const model_statement& statement);
  std::optional<bool> view_leads(const std::string& view) const;
  outcome define_view(const model_statement& statement);
  void look(const model_statement& statement, const model_snapshot& snapshot);
  void show_known(const model_statement& statement);
  void show_pins();
  void set(const std::string& name, std::optional<std::string> value, bool local);

  // model_protocol.cpp
  task<outcome> simple_query(std::string text);
  task<outcome> run_simple_statement(statement_pointer statement, bool several, bool last);
  task<outcome> function_call(std::string body);
  task<outcome> extended(incoming message);
  outcome parse(const std::string& body);
  task<outcome> bind(std::string body);
  task<outcome> execute(std::string body);
  task<outcome> execute_portal(std::string name, unsigned limit);
  outcome describe(const std::string& body);
  void close(const std::string& body);

  model_database& database_;
  server_watcher& watcher_;
  random_source* const chance_;
  const lock_holder id_;

  std::string input_, unflushed_, output_;
  bool input_over_ = false;
  bool alive_ = true;
  bool unsure_ = false;
  bool out_of_step_ = false; ///< a message was refused by its type alone: the stream cannot be read on
  doing state_ = doing::thinking;
  std::coroutine_handle<> resume_;
  task<int> main_;

  bool skipping_ = false;
  bool extended_message_ = false;
  bool cancelled_ = false;
  wait_end wait_end_ = wait_end::none;
  std::optional<virtual_time> deadlock_look_, lock_deadline_;

  block block_ = block::none;
  ending ending_ = ending::none;
  bool chain_ = false;
  std::string gid_;
  transaction transaction_;
  std::map<std::string, prepared_statement> statements_;
  std::map<std::string, portal> portals_;
  std::string tag_; ///< of the statement that runs
  std::string reported_application_name_;
  bool describe_rows_ = false; ///< the simple protocol: RowDescription in front of the rows
  std::vector<std::optional<std::string>> result_; ///< row of advisory calls and known queries
};

} // namespace ledgergate::simulation
