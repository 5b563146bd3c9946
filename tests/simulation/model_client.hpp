// One client: says what comes into its head, in both protocols, with and without waiting for answers, and
// compares what it is answered with what a server of its own would have answered.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/simulation/client_texts.hpp"
#include "tests/simulation/model_backend.hpp"

namespace ledgergate::simulation {

/// One message a client sent.
struct utterance {
  std::string bytes;
  bool waited = false; ///< everything before it had been answered
};

class model_client {
 public:
  struct habits {
    unsigned turns = 10;     ///< how often it says something
    bool pipelines = false;  ///< sometimes does not wait for answers
    bool everything = false; ///< also what client_texts.hpp leaves out
    std::string default_level = "read committed";
    std::shared_ptr<const std::vector<utterance>> script; ///< says this instead, and then goes
  };

  model_client(random_source& chance, int number, habits how);

  /// Whether it has something to say now.
  bool wants_to_speak() const;
  /// Says it: bytes for the server.
  std::string speak();
  /// Nothing more of its own; what is open is brought to its end.
  void come_to_an_end() { turns_left_ = 0; }

  void hear(std::string_view bytes);
  /// The connection was closed by the other side.
  void hear_end();

  /// Everything said is answered, as far as it can be counted.
  bool answered() const;
  /// It will say no more: Terminate was sent, or the session is lost.
  bool finished() const { return finished_; }
  bool lost() const { return lost_; }
  /// An error that a server of its own would not have given ended the comparison.
  bool diverged() const { return diverged_; }
  bool used_own_locks() const { return used_own_locks_; }
  char letter() const { return letter_; }
  /// What a server of its own holds now: the client's own locks.
  const model_database& own_server() const { return own_database_; }
  std::optional<std::string> take_violation() { return std::exchange(violation_, std::nullopt); }
  /// What it would still have to hear, for reports.
  std::size_t answers_missing() const;
  /// The next of them.
  std::string next_answer() const;
  /// All it said, message by message.
  const std::vector<utterance>& said() const { return said_; }
  const habits& habits_of() const { return habits_; }

 private:
  struct heard {
    char tag;
    std::string body;
  };

  void say(std::string_view bytes);
  std::string speak_from_script();
  void say_query(const std::string& text);
  void say_batch();
  void say_redefinition();
  void say_sync();
  bool needs_sync() const;
  void say_copy_data();
  void say_function_call();
  void note_what_it_does(std::string_view text);
  void finish_open_things();
  void take_expected();
  void compare(const heard& got);
  void compare_one(const heard& got, const heard& wanted);
  static bool fails_earlier(const heard& got, const heard& wanted);
  void take_status(const heard& status);
  void follow(const heard& got);
  static bool left_out(const heard& message);

  random_source& chance_;
  client_texts texts_;
  const habits habits_;
  unsigned turns_left_;
  model_database own_database_;
  server_watcher nobody_;
  model_backend own_backend_;
  std::string unsaid_;
  std::string received_, own_output_;
  std::deque<heard> expected_;
  std::vector<std::string> early_; ///< ParameterStatus bodies heard before they were expected
  std::vector<utterance> said_;
  std::size_t next_in_script_ = 0;

  char letter_ = 'I';
  std::size_t ready_owed_ = 0; ///< ReadyForQuery messages to come, by the client's own count
  bool count_certain_ = true;  ///< of that, once it has diverged
  bool batch_open_ = false;    ///< extended messages without their Sync
  bool copying_ = false;       ///< CopyInResponse was heard
  bool finished_ = false;
  bool lost_ = false;
  bool diverged_ = false;
  bool used_own_locks_ = false;
  bool locked_table_ = false;
  std::optional<std::string> violation_;
};

/// SQLSTATEs that come of others: locks, cancels, an ended backend; and the proxy's own refusals.
bool comes_of_others(std::string_view error_body);

/// One message for a trace: its type and the text in it.
std::string shown(char tag, std::string_view body);

} // namespace ledgergate::simulation
