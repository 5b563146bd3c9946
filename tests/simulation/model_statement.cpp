#include "tests/simulation/model_statement.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace ledgergate::simulation {

namespace {

/// Lower case outside of quotes, comments left out, runs of white space as one blank.
std::string normalised(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 1;
      out.push_back(' ');
    } else if (text.substr(i, 2) == "--") {
      i = std::min(text.find('\n', i), text.size());
      out.push_back(' ');
    } else if (text[i] == '\'') {
      const std::size_t end = std::min(text.find('\'', i + 1), text.size() - 1);
      out.append(text.substr(i, end - i + 1));
      i = end;
    } else {
      const auto c = static_cast<unsigned char>(text[i]);
      out.push_back(std::isspace(c) != 0 ? ' ' : static_cast<char>(std::tolower(c)));
    }
  }
  std::string single;
  for (const char c : out)
    if (c != ' ' || (!single.empty() && single.back() != ' ')) single.push_back(c);
  while (!single.empty() && single.back() == ' ')
    single.pop_back();
  return single;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool has_word(std::string_view text, std::string_view word) {
  const auto part_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool before = at > 0 && part_of_name(text[at - 1]);
    const bool after = at + word.size() < text.size() && part_of_name(text[at + word.size()]);
    if (!before && !after) return true;
  }
  return false;
}

std::string word_at(std::string_view text, std::size_t index) {
  for (; index > 0; --index)
    text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  const std::size_t end = text.find_first_of(" (=,");
  return std::string(text.substr(0, end));
}

std::string quoted(std::string_view text) {
  const std::size_t first = text.find('\'');
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first + 1, text.find('\'', first + 1) - first - 1));
}

std::optional<isolation> level_in(std::string_view text) {
  if (has(text, "read committed") || has(text, "read uncommitted")) return isolation::read_committed;
  if (has(text, "repeatable read") || has(text, "serializable")) return isolation::repeatable_read;
  return std::nullopt;
}

void read_modes(std::string_view text, model_statement& out) {
  out.level = level_in(text);
  if (has(text, "read only")) out.read_only = true;
  if (has(text, "read write")) out.read_only = false;
}

/// `pg_advisory_[xact_]lock[_shared](key)`, `pg_try_advisory_lock(a, b)`, `pg_advisory_unlock..`.
void read_advisory(std::string_view text, model_statement& out) {
  for (std::size_t at = text.find("advisory_"); at != std::string_view::npos;
       at = text.find("advisory_", at + 1)) {
    const std::size_t open = text.find('(', at);
    if (open == std::string_view::npos) return;
    const std::string_view name = text.substr(at, open - at);
    advisory_call call;
    if (has(name, "unlock"))
      call.what = has(name, "all") ? advisory_call::kind::unlock_all : advisory_call::kind::unlock;
    if (at >= 4 && text.substr(at - 4, 4) == "try_") call.what = advisory_call::kind::try_lock;
    call.mode = has(name, "shared") ? lock_mode::shared : lock_mode::exclusive;
    call.session = !has(name, "xact");
    const std::string_view arguments = text.substr(open + 1, text.find(')', open) - open - 1);
    const std::size_t digits = arguments.find_first_of("0123456789");
    if (digits != std::string_view::npos)
      std::from_chars(arguments.data() + digits, arguments.data() + arguments.size(), call.key);
    if (has(arguments, ",")) call.key += pair_keys;
    out.advisory.push_back(call);
  }
}

/// The first word that is `v` and a digit, up to its end.
std::string view_in(std::string_view text) {
  for (std::size_t at = text.find(" v"); at != std::string_view::npos; at = text.find(" v", at + 1)) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789_", at + 2), text.size());
    if (end > at + 2) return std::string(text.substr(at + 1, end - at - 1));
  }
  return {};
}

void read_effects(std::string_view text, model_statement& out) {
  out.looks = has_word(text, "led") || has_word(text, "ledger_control");
  out.parameter = has(text, "$1");
  out.view = view_in(text);
  if (text == "select true") out.value = "t";
  read_advisory(text, out);
  if (has(text, "1/0")) out.fails = failure::planning;
  if (has(text, "/(a") || has(text, "/(2 - a)") || has(text, "1/count(")) out.fails = failure::execution;
  if (has(text, "(999)")) out.fails = failure::commit;
  if (has_word(text, "nowhere")) out.fails = failure::analysis;
  const bool writes_control = has(text, "update ledger_control") || has(text, "update \"ledger_control\"");
  const bool locks = has(text, "for update") || has(text, "for no key update");
  if (writes_control || (locks && has_word(text, "ledger_control"))) {
    out.changes_mode = true;
    out.sets_mode = writes_control;
    out.row = control_row_key;
    const std::size_t set = text.find("mode", text.find(" set "));
    if (writes_control) out.value = quoted(text.substr(std::min(set, text.size())));
  } else if (const std::size_t at = text.find("account = "); at != std::string_view::npos) {
    out.row = row_keys + 1 + (text[at + 10] - '0');
  }
  if (out.fails == failure::execution)
    out.rows = has(text, "(2 - a)") ? 1 : 0;
  else if (const std::size_t at = text.find("generate_series(1, "); at != std::string_view::npos)
    out.rows = static_cast<unsigned>(text[at + 19] - '0');
}

known_query known_in(std::string_view text) {
  if (has(text, "xmin::pg_catalog.text") && !text.starts_with("update")) return known_query::control_row;
  if (has(text, "pg_xact_status")) return known_query::outcome;
  if (has(text, "synchronous_standby_names")) return known_query::standbys;
  if (!text.starts_with("with locks")) return known_query::none;
  if (has(text, "select l.mode")) return known_query::pins;
  return has(text, "select pg_catalog.count(*)") ? known_query::grant_facts : known_query::rival;
}

model_statement read_statement(std::string_view text);

/// The kinds of statement that the first words decide.
void read_control(std::string_view text, model_statement& out) {
  const std::string first = word_at(text, 0);
  const bool chain = has(text, "and chain");
  if (first == "begin" || first == "start") {
    out.what = verb::begin;
    out.tag = first == "begin" ? "BEGIN" : "START TRANSACTION";
    if (has(text, "nonsense")) out.fails = failure::syntax;
    read_modes(text, out);
  } else if (text.starts_with("commit prepared") || text.starts_with("rollback prepared")) {
    out.what = first == "commit" ? verb::commit_prepared : verb::rollback_prepared;
    out.tag = first == "commit" ? "COMMIT PREPARED" : "ROLLBACK PREPARED";
    out.name = quoted(text);
  } else if (first == "commit" || first == "end") {
    out.what = verb::commit;
    out.tag = "COMMIT";
    out.chain = chain;
  } else if (text.starts_with("rollback to")) {
    out.what = verb::rollback_to;
    out.tag = "ROLLBACK";
    out.name = word_at(text, has(text, "to savepoint") ? 3 : 2);
  } else if (first == "rollback" || first == "abort") {
    out.what = verb::rollback;
    out.tag = "ROLLBACK";
    out.chain = chain;
  } else if (first == "savepoint") {
    out.what = verb::savepoint;
    out.tag = "SAVEPOINT";
    out.name = word_at(text, 1);
  } else if (first == "release") {
    out.what = verb::release;
    out.tag = "RELEASE";
    out.name = word_at(text, has(text, "release savepoint") ? 2 : 1);
  } else if (text.starts_with("prepare transaction")) {
    out.what = verb::prepare_transaction;
    out.tag = "PREPARE TRANSACTION";
    out.name = quoted(text);
  } else if (text.starts_with("set transaction")) {
    out.what = verb::set_transaction;
    out.tag = "SET";
    read_modes(text, out);
  }
}

void read_setting(std::string_view text, model_statement& out) {
  out.tag = "SET";
  if (text.starts_with("set session characteristics")) {
    out.what = verb::set;
    out.name = "default_transaction_isolation";
    out.value = level_in(text) == isolation::repeatable_read ? "repeatable read" : "read committed";
  } else if (text.starts_with("reset ")) {
    out.what = verb::reset;
    out.tag = "RESET";
    out.name = word_at(text, 1);
  } else if (text.starts_with("set constraints")) {
    out.what = verb::utility;
    out.tag = "SET CONSTRAINTS";
  } else if (text.starts_with("set ")) {
    out.what = verb::set;
    const bool local = text.starts_with("set local");
    out.hold = !local;
    out.name = word_at(text, local ? 2 : 1);
    const std::size_t equals = text.find('=');
    out.value = quoted(text);
    if (out.value.empty() && equals != std::string_view::npos) out.value = text.substr(equals + 2);
  }
}

void read_named(std::string_view text, model_statement& out) {
  const std::string first = word_at(text, 0);
  if (first == "prepare") {
    out.what = verb::prepare;
    out.tag = "PREPARE";
    out.name = word_at(text, 1);
    const std::size_t body = text.find(" as ");
    out.inner = std::make_shared<model_statement>(read_statement(text.substr(body + 4)));
  } else if (first == "execute") {
    out.what = verb::execute;
    out.name = word_at(text, 1);
  } else if (first == "deallocate") {
    out.what = word_at(text, 1) == "all" ? verb::deallocate_all : verb::deallocate;
    out.tag = out.what == verb::deallocate_all ? "DEALLOCATE ALL" : "DEALLOCATE";
    out.name = word_at(text, 1);
  } else if (first == "discard") {
    const std::string kind = word_at(text, 1);
    out.what = kind == "all" ? verb::discard_all : verb::discard_some;
    out.tag = kind == "all" ? "DISCARD ALL" : kind == "temp" ? "DISCARD TEMP" : "DISCARD PLANS";
  } else if (first == "declare") {
    out.what = verb::declare;
    out.tag = "DECLARE CURSOR";
    out.name = word_at(text, 1);
    out.hold = has(text, "with hold");
    out.inner = std::make_shared<model_statement>(read_statement(text.substr(text.find(" for ") + 5)));
  } else if (first == "fetch") {
    out.what = verb::fetch;
    out.tag = "FETCH";
    out.name = std::string(text.substr(text.rfind(' ') + 1));
  } else if (first == "close") {
    out.what = verb::close_cursor;
    out.tag = "CLOSE CURSOR";
    out.name = word_at(text, 1);
  }
}

void read_data(std::string_view text, model_statement& out) {
  const std::string first = word_at(text, 0);
  if (first == "select" || first == "with" || first == "values" || first == "table") {
    out.what = verb::select;
    out.tag = "SELECT";
    out.writes = false;
  } else if (first == "insert" || first == "update" || first == "delete") {
    out.what = verb::modify;
    out.tag = first == "insert" ? "INSERT 0" : first == "update" ? "UPDATE" : "DELETE";
    out.writes = true;
    out.returning = has(text, "returning");
  } else if (first == "call" || first == "do") {
    out.what = first == "call" ? verb::call : verb::do_block;
    out.tag = first == "call" ? "CALL" : "DO";
    out.looks = out.looks || has(text, "touch_led");
    out.writes = out.looks;
    out.commits_inside = first == "call" ? has(text, "touch_led()") : has(text, "commit");
  } else if (first == "copy") {
    out.what = has(text, "from stdin") ? verb::copy_in : verb::copy_out;
    out.tag = "COPY";
    out.writes = out.what == verb::copy_in;
  } else if (first == "create") {
    out.what = verb::define_view;
    out.tag = "CREATE VIEW";
    out.replace = has(text, "or replace");
    out.fails = has_word(text, "trigger") ? failure::syntax : failure::none;
  } else if (first == "lock") {
    out.what = verb::lock_table;
    out.tag = "LOCK TABLE";
    out.looks = has_word(text, "led");
  } else if (first == "listen" || first == "notify" || first == "show") {
    out.what = first == "show" ? verb::select : verb::utility;
    out.tag = first == "listen" ? "LISTEN" : first == "notify" ? "NOTIFY" : "SHOW";
  } else {
    out.fails = failure::syntax;
  }
}

model_statement read_statement(std::string_view text) {
  model_statement out;
  read_control(text, out);
  if (out.what == verb::nothing) read_setting(text, out);
  if (out.what == verb::nothing) read_named(text, out);
  if (out.what != verb::nothing) return out;
  read_effects(text, out);
  out.known = known_in(text);
  if (out.known != known_query::none) out.looks = false;
  if (out.known == known_query::outcome) out.value = quoted(text);
  read_data(text, out);
  const bool cut = text.ends_with("where") ||
                   std::count(text.begin(), text.end(), '(') != std::count(text.begin(), text.end(), ')');
  if (cut) out.fails = failure::syntax;
  return out;
}

} // namespace

bool model_statement::is_transaction_control() const {
  return what >= verb::begin && what <= verb::rollback_prepared;
}

bool model_statement::leaves_transaction() const {
  return what == verb::commit || what == verb::rollback || what == verb::rollback_to ||
         what == verb::prepare_transaction;
}

bool model_statement::analysis_takes_snapshot() const {
  return what == verb::select || what == verb::modify || what == verb::declare || what == verb::call;
}

bool model_statement::run_takes_snapshot() const {
  return what == verb::prepare || what == verb::execute || what == verb::deallocate ||
         what == verb::deallocate_all || what == verb::discard_all || what == verb::discard_some ||
         what == verb::close_cursor || what == verb::define_view;
}

bool model_statement::returns_rows() const {
  return what == verb::select || what == verb::fetch || returning;
}

std::optional<std::vector<std::shared_ptr<const model_statement>>> read_text(std::string_view text) {
  std::vector<std::shared_ptr<const model_statement>> out;
  const std::string whole = normalised(text);
  std::size_t begin = 0;
  bool quote = false;
  bool dollar = false;
  for (std::size_t i = 0; i <= whole.size(); ++i) {
    if (i < whole.size()) {
      if (whole[i] == '\'') quote = !quote;
      if (whole.compare(i, 2, "$$") == 0) dollar = !dollar;
      if (whole[i] != ';' || quote || dollar) continue;
    }
    std::string_view part = std::string_view(whole).substr(begin, i - begin);
    begin = i + 1;
    while (!part.empty() && part.front() == ' ')
      part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ')
      part.remove_suffix(1);
    if (part.empty()) continue;
    out.push_back(std::make_shared<model_statement>(read_statement(part)));
    if (out.back()->fails == failure::syntax) return std::nullopt;
  }
  return out;
}

} // namespace ledgergate::simulation
