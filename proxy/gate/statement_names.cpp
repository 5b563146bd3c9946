#include "proxy/gate/statement_names.hpp"

#include <algorithm>

namespace ledgergate::gate {

namespace {

// NAMEDATALEN - 1: the server's statement table compares no more than this.
constexpr std::size_t compared_name_bytes = 63;

std::string_view compared(std::string_view name) { return name.substr(0, compared_name_bytes); }

} // namespace

bool leaves_transaction(sql::control_kind control) {
  switch (control) {
  case sql::control_kind::none:
  case sql::control_kind::begin:
  case sql::control_kind::savepoint:
  case sql::control_kind::release:
  case sql::control_kind::other_two_phase:
  case sql::control_kind::set_transaction: return false;
  case sql::control_kind::commit:
  case sql::control_kind::rollback:
  case sql::control_kind::commit_and_chain:
  case sql::control_kind::rollback_and_chain:
  case sql::control_kind::rollback_to:
  case sql::control_kind::prepare_transaction: return true;
  }
  return true;
}

bool sets_transaction_up(sql::control_kind control) {
  return control == sql::control_kind::set_transaction || control == sql::control_kind::begin;
}

bool redefines_names(const sql::text_verdict& verdict) {
  return !verdict.prepares.empty() || !verdict.deallocates.empty() || verdict.forgets_statements ||
         verdict.redefines_unseen;
}

bool statement_class::may_drop_pin() const { return control_unknown || leaves_transaction(control); }

statement_class class_of(const sql::text_verdict& verdict) {
  statement_class out;
  out.touch = verdict.touch;
  out.reason = verdict.reason;
  out.plain_dml =
      verdict.shape == sql::text_shape::plain_dml || verdict.shape == sql::text_shape::dml_with_params;
  out.may_commit_inside = verdict.may_commit_inside;
  out.drops_session_locks = verdict.drops_session_locks;
  out.isolation = verdict.isolation;
  out.defines_a_way = verdict.defines_a_way;
  if (redefines_names(verdict) || !verdict.executes.empty())
    out.sql_names = std::make_shared<const sql::text_verdict>(verdict);
  return out;
}

statement_class unknown_statement() {
  statement_class out;
  out.touch = sql::touch_kind::touch;
  out.reason = sql::touch_reason::unparsed;
  return out;
}

statement_class doubted(const statement_class& known) {
  statement_class out = unknown_statement();
  out.touch = std::max(out.touch, known.touch);
  out.drops_session_locks = known.drops_session_locks;
  out.isolation = known.isolation;
  return out;
}

statement_class merge(const statement_class& a, const statement_class& b) {
  statement_class out = a.touch >= b.touch ? a : b;
  out.plain_dml = a.plain_dml && b.plain_dml;
  out.may_commit_inside = a.may_commit_inside || b.may_commit_inside;
  out.drops_session_locks = a.drops_session_locks || b.drops_session_locks;
  if (out.sql_names == nullptr) out.sql_names = a.sql_names != nullptr ? a.sql_names : b.sql_names;
  if (a.isolation != b.isolation) out.isolation = sql::isolation_mention::doubt;
  out.control_unknown = a.control_unknown || b.control_unknown || a.control != b.control;
  out.defines_a_way = a.defines_a_way || b.defines_a_way;
  out.generation = std::min(a.generation, b.generation);
  if (a.source != b.source) out.source = nullptr;
  return out;
}

statement_names::statement_names() {
  auto [at, inserted] = statements_.try_emplace("");
  at->second.name = at->first;
}

named_statement* statement_names::begin_parse(std::string_view name, const statement_class& statement,
                                              unsigned batch) {
  auto at = statements_.find(compared(name));
  if (at == statements_.end()) {
    at = statements_.try_emplace(std::string(compared(name))).first;
    at->second.name = at->first;
  }
  at->second.pending.push_back({statement, batch});
  return &at->second;
}

void statement_names::succeeded(named_statement* statement) {
  statement->current = statement->pending.front().statement;
  statement->pending.erase(statement->pending.begin());
}

void statement_names::abandoned(named_statement* statement) {
  statement->pending.erase(statement->pending.begin());
  erase_if_unused(statements_.find(statement->name));
}

void statement_names::define(std::string_view name, const statement_class& statement) {
  auto at = statements_.try_emplace(std::string(compared(name))).first;
  at->second.name = at->first;
  at->second.current = statement;
}

void statement_names::forget(std::string_view name) {
  const auto at = statements_.find(compared(name));
  if (at == statements_.end()) return;
  at->second.current.reset();
  erase_if_unused(at);
}

void statement_names::forget_all() {
  for (auto at = statements_.begin(); at != statements_.end();) {
    const auto next = std::next(at);
    // The server keeps the unnamed statement: it does not stand among the others there.
    if (!at->first.empty()) {
      at->second.current.reset();
      erase_if_unused(at);
    }
    at = next;
  }
}

void statement_names::doubt_all() {
  for (auto& [name, statement] : statements_)
    if (statement.current && !name.empty()) statement.current = doubted(*statement.current);
}

bool statement_names::same(std::string_view a, std::string_view b) { return compared(a) == compared(b); }

named_statement* statement_names::entry(std::string_view name) {
  const auto at = statements_.find(compared(name));
  return at == statements_.end() ? nullptr : &at->second;
}

std::optional<statement_class> statement_names::find(std::string_view name, unsigned batch) const {
  const auto at = statements_.find(compared(name));
  if (at == statements_.end()) return std::nullopt;
  std::optional<statement_class> found = at->second.current;
  if (const auto last = parsed_in(name, batch)) return last;
  for (const named_statement::parse& parse : at->second.pending)
    found = found ? merge(*found, parse.statement) : parse.statement;
  return found;
}

std::optional<statement_class> statement_names::parsed_in(std::string_view name, unsigned batch) const {
  const auto at = statements_.find(compared(name));
  if (at == statements_.end() || at->second.pending.empty()) return std::nullopt;
  const named_statement::parse& last = at->second.pending.back();
  return last.batch == batch ? std::optional(last.statement) : std::nullopt;
}

void statement_names::erase_if_unused(table::iterator at) {
  const bool unnamed = at->first.empty();
  if (!unnamed && !at->second.current && at->second.pending.empty()) statements_.erase(at);
}

void portals::bind(std::string_view name, const statement_class& statement, unsigned batch) {
  if (name.empty()) {
    unnamed_ = statement;
    return;
  }
  const auto at = named_.find(compared(name));
  if (at == named_.end()) {
    named_.emplace(std::string(compared(name)), bound{statement, statement, batch});
  } else {
    at->second = {merge(at->second.any, statement), statement, batch};
  }
}

void portals::close(std::string_view name) {
  if (name.empty()) {
    unnamed_.reset();
    return;
  }
  const auto at = named_.find(compared(name));
  if (at != named_.end()) named_.erase(at);
}

void portals::clear() {
  unnamed_.reset();
  named_.clear();
}

std::optional<statement_class> portals::find(std::string_view name, unsigned batch) const {
  if (name.empty()) return unnamed_;
  const auto at = named_.find(compared(name));
  if (at == named_.end()) return std::nullopt;
  return at->second.batch == batch ? at->second.last : at->second.any;
}

} // namespace ledgergate::gate
