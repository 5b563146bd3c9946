#include "tests/simulation/model_client.hpp"

#include <algorithm>
#include <array>

#include "protocol/backend_message.hpp"
#include "protocol/frontend_message.hpp"
#include "protocol/tags.hpp"
#include "protocol/wire.hpp"

namespace ledgergate::simulation {

namespace backend = protocol::backend;

bool comes_of_others(std::string_view error_body) {
  static constexpr std::array states = {"40P01", "55P03", "57014", "57P01", "40001", "42501", "42704"};
  const std::string_view state = protocol::error_field(error_body, 'C');
  if (state == "0A000") return protocol::error_field(error_body, 'M').starts_with("ledgergate");
  return std::find(states.begin(), states.end(), state) != states.end();
}

std::string shown(char tag, std::string_view body) {
  std::string out(1, tag);
  out += ' ';
  for (const char c : body)
    out += c >= ' ' && c <= '~' ? c : '.';
  return out;
}

model_client::model_client(random_source& chance, int number, habits how)
    : chance_(chance), texts_(chance, number, how.everything), habits_(how), turns_left_(how.turns),
      own_backend_(own_database_, nobody_, nullptr, 1) {
  own_backend_.settings["default_transaction_isolation"] = how.default_level;
}

bool model_client::answered() const {
  if (!diverged_) return expected_.empty() && own_output_.empty() && received_.empty();
  return ready_owed_ == 0;
}

std::size_t model_client::answers_missing() const { return diverged_ ? ready_owed_ : expected_.size(); }

std::string model_client::next_answer() const {
  return expected_.empty() ? "" : shown(expected_.front().tag, expected_.front().body);
}

/// The last answer to come is no ReadyForQuery: the server keeps it until it is asked for one.
bool model_client::needs_sync() const {
  if (diverged_ || expected_.empty() || copying_) return false;
  const char last = expected_.back().tag;
  return last != backend::ready_for_query && last != backend::copy_in_response;
}

bool model_client::wants_to_speak() const {
  if (finished_ || lost_) return false;
  if (habits_.script != nullptr) {
    const bool more = next_in_script_ < habits_.script->size();
    return answered() || copying_ || needs_sync() || (more && !(*habits_.script)[next_in_script_].waited);
  }
  if (needs_sync()) return true;
  if (copying_ || batch_open_ || answered()) return true;
  if (diverged_ && !count_certain_) return true;
  return habits_.pipelines && turns_left_ > 0 && (diverged_ ? ready_owed_ : expected_.size()) < 40;
}

void model_client::say(std::string_view bytes) {
  bool waited = unsaid_.empty() && answered();
  own_backend_.feed(bytes);
  unsaid_ += bytes;
  while (!bytes.empty()) {
    const std::size_t total = 1 + protocol::load_int32(bytes.data() + 1);
    said_.push_back({std::string(bytes.substr(0, total)), std::exchange(waited, false)});
    bytes.remove_prefix(total);
  }
}

std::string model_client::speak_from_script() {
  const auto& script = *habits_.script;
  if (next_in_script_ == script.size()) {
    say(std::string_view("X\0\0\0\4", 5));
    finished_ = true;
  } else {
    say(script[next_in_script_].bytes);
    ++next_in_script_;
  }
  own_backend_.run_all();
  take_expected();
  return std::exchange(unsaid_, {});
}

std::string model_client::speak() {
  if (habits_.script != nullptr) return speak_from_script();
  if (diverged_ && !count_certain_) {
    // What is still to come can no longer be told: a client in this place gives up.
    say(std::string_view("X\0\0\0\4", 5));
    finished_ = true;
    return std::exchange(unsaid_, {});
  }
  const bool sync_was_eaten = !diverged_ && answered() && ready_owed_ > 0 && !copying_;
  if (!diverged_ && answered() && !copying_) {
    count_certain_ = true;
    ready_owed_ = 0;
  }
  if (copying_) {
    say_copy_data();
  } else if (sync_was_eaten || (needs_sync() && (!habits_.pipelines || turns_left_ == 0))) {
    say_sync();
  } else if (turns_left_ == 0) {
    finish_open_things();
  } else {
    --turns_left_;
    const std::size_t kind = chance_.below(20);
    if (habits_.pipelines && chance_.one_in(15)) {
      say_redefinition();
    } else if (kind < 9) {
      say_query(chance_.one_in(5) ? texts_.several(letter_) : texts_.any(letter_));
    } else if (kind < 19) {
      say_batch();
    } else {
      say_function_call();
    }
  }
  own_backend_.run_all();
  take_expected();
  return std::exchange(unsaid_, {});
}

/// A name of a prepared statement gets another meaning and is used, in one breath.
void model_client::say_redefinition() {
  say_query(chance_.one_in(2) ? "DEALLOCATE p" : "DEALLOCATE ALL");
  say_query(chance_.one_in(2) ? "PREPARE p AS INSERT INTO led VALUES (1)" : "PREPARE p AS SELECT 1 AS a");
  say_query("EXECUTE p");
}

void model_client::say_query(const std::string& text) {
  note_what_it_does(text);
  std::string bytes;
  protocol::append_query(bytes, text);
  if (text.find("advisory_") != std::string::npos && text.find("12638792") != std::string::npos)
    used_own_locks_ = true;
  if (batch_open_) count_certain_ = false; // skipped without an answer if the batch fails
  batch_open_ = false;
  say(bytes);
  ++ready_owed_;
}

void model_client::note_what_it_does(std::string_view text) {
  locked_table_ = locked_table_ || text.find("LOCK TABLE") != std::string_view::npos;
}

void model_client::say_function_call() {
  static constexpr std::array<std::uint32_t, 6> functions = {5061, 99999, touching_function,
                                                             2881, 2885,  3090};
  const std::uint32_t function = functions[chance_.below(habits_.everything ? functions.size() : 3)];
  if (function < 5000) used_own_locks_ = true;
  if (batch_open_) count_certain_ = false;
  batch_open_ = false;
  const std::string call = function == 5061 ? protocol::make_function_call(function)
                                            : protocol::make_function_call(function, gate_key);
  say(call);
  ++ready_owed_;
}

/// Parse, Bind, Execute of one or more statements, and mostly a Sync.
void model_client::say_batch() {
  static constexpr std::array names = {"", "", "s", "t"};
  for (std::size_t i = chance_.between(1, 3); i > 0; --i) {
    const std::string name = names[chance_.below(names.size())];
    const std::string portal = chance_.one_in(6) ? "o" : "";
    std::string bytes;
    const std::string text = texts_.any(letter_);
    if (text.starts_with("DECLARE c") || text.starts_with("LOCK")) continue;
    note_what_it_does(text);
    if (chance_.one_in(8)) protocol::append_close(bytes, 'S', name);
    if (!chance_.one_in(5)) {
      protocol::append_parse(bytes, name, text);
      if (text.find("advisory_") != std::string::npos) used_own_locks_ = true;
    }
    if (chance_.one_in(6)) protocol::append_describe(bytes, 'S', name);
    if (!chance_.one_in(10)) {
      protocol::append_bind(bytes, portal, name);
      if (chance_.one_in(2)) protocol::append_describe(bytes, 'P', portal);
      const bool limited = chance_.one_in(6);
      protocol::append_execute(bytes, portal);
      if (limited) bytes.back() = '\1';
      if (limited && chance_.one_in(2)) protocol::append_execute(bytes, portal);
      if (!portal.empty() && chance_.one_in(2)) protocol::append_close(bytes, 'P', portal);
    }
    if (text == "COPY led FROM STDIN") count_certain_ = false; // its Sync may be eaten
    if (chance_.one_in(10)) bytes += std::string("H\0\0\0\4", 5);
    batch_open_ = true;
    say(bytes);
  }
  if (chance_.one_in(12) && habits_.pipelines) return;
  say_sync();
}

void model_client::say_sync() {
  std::string sync;
  protocol::append_sync(sync);
  say(sync);
  batch_open_ = false;
  ++ready_owed_;
}

void model_client::say_copy_data() {
  copying_ = false;
  if (diverged_) count_certain_ = false;
  std::string bytes;
  for (std::size_t rows = chance_.below(3); rows > 0; --rows)
    bytes += std::string("d\0\0\0\6", 5) + "1\n";
  if (chance_.one_in(6)) bytes += std::string("d\0\0\0\6", 5) + "x\n";
  if (chance_.one_in(5)) {
    bytes += std::string("f\0\0\0\5\0", 6);
  } else {
    bytes += std::string("c\0\0\0\4", 5);
  }
  say(bytes);
}

void model_client::finish_open_things() {
  if (batch_open_) {
    say_sync();
  } else if (letter_ != 'I') {
    say_query("ROLLBACK");
  } else {
    say(std::string_view("X\0\0\0\4", 5));
    finished_ = true;
  }
}

void model_client::take_expected() {
  own_output_ += own_backend_.take_output();
  std::size_t at = 0;
  while (own_output_.size() - at >= protocol::header_bytes) {
    const std::size_t total = 1 + protocol::load_int32(own_output_.data() + at + 1);
    if (own_output_.size() - at < total) break;
    heard message{own_output_[at],
                  own_output_.substr(at + protocol::header_bytes, total - protocol::header_bytes)};
    const auto heard_before = std::find(early_.begin(), early_.end(), message.body);
    const bool early = message.tag == backend::parameter_status && heard_before != early_.end();
    if (early) early_.erase(heard_before);
    if (!early && !left_out(message)) expected_.push_back(std::move(message));
    at += total;
  }
  own_output_.erase(0, at);
  // A lock that a prepared transaction of the same client holds is another's in its own server too.
  if (own_backend_.unsure() || own_backend_.waiting_for_lock()) diverged_ = true;
}

bool model_client::left_out(const heard& message) {
  return message.tag == backend::notice_response && protocol::error_field(message.body, 'C') == "01000";
}

void model_client::hear(std::string_view bytes) {
  received_.append(bytes);
  while (received_.size() >= protocol::header_bytes) {
    const std::size_t total = 1 + protocol::load_int32(received_.data() + 1);
    if (received_.size() < total) break;
    const heard got{received_[0], received_.substr(protocol::header_bytes, total - protocol::header_bytes)};
    received_.erase(0, total);
    if (left_out(got)) continue;
    compare(got);
    follow(got);
  }
}

void model_client::hear_end() {
  lost_ = true;
  finished_ = true;
}

/// What every client keeps track of.
void model_client::follow(const heard& got) {
  if (got.tag == backend::copy_in_response) copying_ = true;
  if (got.tag == backend::error_response) copying_ = false;
  if (got.tag != backend::ready_for_query) return;
  letter_ = got.body[0];
  if (ready_owed_ > 0) --ready_owed_;
}

void model_client::compare(const heard& got) {
  if (diverged_ || violation_) return;
  if (got.tag == backend::error_response && comes_of_others(got.body)) {
    const bool same =
        !expected_.empty() && expected_.front().tag == got.tag &&
        protocol::error_field(expected_.front().body, 'C') == protocol::error_field(got.body, 'C');
    if (!same) {
      diverged_ = true;
      expected_.clear();
      return;
    }
  }
  if (got.tag == backend::parameter_status) {
    take_status(got);
    return;
  }
  if (expected_.empty()) {
    violation_ = "G6: a client hears " + shown(got.tag, got.body) + " that no server would have said";
    return;
  }
  const heard wanted = std::move(expected_.front());
  expected_.pop_front();
  compare_one(got, wanted);
}

/// A parameter's change is reported when the server is next ready, and a call of the proxy's own makes it
/// ready sooner: when it is reported may differ, that it is may not.
void model_client::take_status(const heard& status) {
  const auto found = std::find_if(expected_.begin(), expected_.end(), [&](const heard& wanted) {
    return wanted.tag == status.tag && wanted.body == status.body;
  });
  if (found == expected_.end()) {
    early_.push_back(status.body);
  } else {
    expected_.erase(found);
  }
}

/// A pin in front of a pipelined Bind meets the failed transaction before the Bind's own name is looked up.
bool model_client::fails_earlier(const heard& got, const heard& wanted) {
  if (got.tag != backend::error_response || wanted.tag != backend::error_response) return false;
  const std::string_view state = protocol::error_field(wanted.body, 'C');
  return protocol::error_field(got.body, 'C') == "25P02" &&
         (state == "26000" || state == "42P03" || state == "34000");
}

void model_client::compare_one(const heard& got, const heard& wanted) {
  if (fails_earlier(got, wanted)) return;
  // A transaction that has the gate's own key at session level as well, by its client, cannot be prepared
  // (F12).
  const std::string_view state =
      got.tag == backend::error_response ? protocol::error_field(got.body, 'C') : "";
  if (used_own_locks_ && state == "0A000") {
    diverged_ = true;
    expected_.clear();
    return;
  }
  // LOCK TABLE takes no snapshot, the pin in front of it does: the level can no longer be set (F9).
  if (locked_table_ && state == "25001") {
    diverged_ = true;
    expected_.clear();
    return;
  }
  bool same = got.tag == wanted.tag;
  if (same && (got.tag == backend::data_row || got.tag == backend::function_call_response)) {
    // Whether an unlock found a lock, and which transactions a snapshot names, is not the client's alone.
    const bool answer = got.body.ends_with("t") || got.body.ends_with("f") || got.body.size() <= 5;
    same = got.body == wanted.body || answer || got.body.size() >= 24;
  } else if (same) {
    same = got.body == wanted.body;
  }
  if (same) return;
  violation_ =
      "G6: a client hears " + shown(got.tag, got.body) + " instead of " + shown(wanted.tag, wanted.body);
}

} // namespace ledgergate::simulation
