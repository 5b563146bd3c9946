#include <algorithm>
#include <utility>

#include "protocol/wire.hpp"
#include "proxy/gate/engine_core.hpp"

namespace ledgergate::gate {

/// Something in flight may give the name another meaning.
bool engine_core::name_doubtful(std::string_view name) const {
  if (redefiners_in_flight_ == 0 || name.empty() || !keeps(gate_rule::doubt_redefined_names)) return false;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const expected_reply& entry = queue_.at(i);
    if (!entry.redefines_names) continue;
    if (entry.sql_names == nullptr) continue; // it only forgets
    if (entry.sql_names->redefines_unseen) return true;
    for (const sql::prepared_by_sql& prepared : entry.sql_names->prepares)
      if (statement_names::same(prepared.name, name)) return true;
  }
  return false;
}

std::shared_ptr<const prepared_text> engine_core::kept_text(std::string_view text,
                                                            std::string_view types) const {
  if (text.size() > max_kept_text_bytes) return nullptr;
  return std::make_shared<const prepared_text>(
      prepared_text{std::string(text), reading_, std::string(types)});
}

/// The types of parameters that Parse names by number: no text shows what making such a value, or a cast of
/// it, leads to.
void engine_core::judge_parameters(sql::text_verdict& verdict, std::string_view types) const {
  for (; types.size() >= 4; types.remove_prefix(4)) {
    const std::uint32_t type = protocol::load_int32(types.data());
    if (type < first_normal_object_id) continue;
    const sql::touch_kind touch = rules_->classifier->judge_type(type);
    if (touch <= verdict.touch) continue;
    verdict.touch = touch;
    verdict.reason = sql::touch_reason::catalog;
    verdict.name = "the type of a parameter";
  }
}

/// A class that other rules gave. Without its text nothing is known but what the server does with it.
statement_class engine_core::judged_again(const statement_class& old) const {
  statement_class fresh = old;
  fresh.generation = rules_->generation;
  if (old.source == nullptr) {
    if (old.control != sql::control_kind::none) return fresh; // leads nowhere, whatever the rules
    fresh.touch = std::max(old.touch, sql::touch_kind::touch);
    if (old.touch == sql::touch_kind::none) fresh.reason = sql::touch_reason::unparsed;
    return fresh;
  }
  sql::text_verdict verdict = rules_->classifier->classify(old.source->text, old.source->reading);
  judge_parameters(verdict, old.source->parameter_types);
  if (old.prepare_index >= 0) {
    if (static_cast<std::size_t>(old.prepare_index) < verdict.prepares.size())
      fresh.touch = verdict.prepares[static_cast<std::size_t>(old.prepare_index)].touch;
    return fresh;
  }
  fresh = class_of(verdict);
  fresh.control = old.control;
  fresh.source = old.source;
  fresh.generation = rules_->generation;
  return fresh;
}

void engine_core::judge_again(std::string_view name) {
  named_statement* const known = names_.entry(name);
  if (known == nullptr) return;
  const auto refresh = [this](statement_class& statement) {
    if (statement.generation != rules_->generation) statement = judged_again(statement);
  };
  if (known->current) refresh(*known->current);
  for (named_statement::parse& parse : known->pending)
    refresh(parse.statement);
}

statement_class engine_core::with_sql_names(statement_class statement) {
  if (statement.sql_names == nullptr || !keeps(gate_rule::touch_by_statement_name)) return statement;
  for (const std::string& name : statement.sql_names->executes) {
    // Only DML can be prepared by SQL, so EXECUTE of something that executes again fails on the server: not
    // followed further.
    judge_again(name);
    const auto target = names_.find(name, 0);
    const bool known = target && !name_doubtful(name) && target->sql_names == nullptr;
    const statement_class executed = known ? *target : target ? doubted(*target) : unknown_statement();
    add_executed(statement, executed);
  }
  return statement;
}

statement_class engine_core::class_of_statement(std::string_view name) {
  judge_again(name);
  const unsigned batch = batch_.open ? batch_serial_ : 0;
  if (const auto parsed = names_.parsed_in(name, batch)) return with_sql_names(*parsed);
  const auto known = names_.find(name, batch);
  if (!known) return unknown_statement();
  const statement_class found = with_sql_names(*known);
  return name_doubtful(name) ? doubted(found) : found;
}

/// Between a definition that may lead to the ledger and the next reading of the catalog nobody can say what a
/// statement leads to.
void engine_core::doubt(statement_class& statement) const {
  if (!catalog_doubted_ || statement.touch != sql::touch_kind::none) return;
  if (statement.control != sql::control_kind::none) return;
  if (statement.sql_names != nullptr && statement.sql_names->forgets_statements) return; // DISCARD ALL
  statement.touch = sql::touch_kind::touch;
  statement.reason = sql::touch_reason::new_definition;
}

void engine_core::doubt(sql::text_verdict& verdict, std::string_view text) const {
  if (!catalog_doubted_ || verdict.touch != sql::touch_kind::none) return;
  if (sql::single_control_statement(text) != sql::control_kind::none) return;
  if (verdict.shape == sql::text_shape::other_single && verdict.forgets_statements) return; // DISCARD ALL
  verdict.touch = sql::touch_kind::touch;
  verdict.reason = sql::touch_reason::new_definition;
  if (verdict.shape != sql::text_shape::unknown || text.find(';') == std::string_view::npos) return;
  verdict.first = sql::leading_control_statement(text);
  verdict.has_transaction_control = true; // not read: it may end the transaction
}

void engine_core::mark_definition(expected_reply& entry, bool defines) {
  entry.defines_a_way = defines;
  if (defines && keeps(gate_rule::doubt_new_definitions) && rules_->mode == config::gate_mode::enforce)
    catalog_doubted_ = true;
}

/// The session is idle behind a definition: the client is told so when the catalog has been read again.
/// Whether its ReadyForQuery has to wait.
bool engine_core::wait_for_catalog() {
  if (!catalog_doubted_ || !only_releases_outstanding() || batch_.open || client_rest_ > 0) return false;
  out_->refresh_catalog = true;
  wait_ = wait_for::catalog;
  return true;
}

void engine_core::on_catalog(bool current, actions& out) {
  out_ = &out;
  if (current) catalog_doubted_ = false;
  if (wait_ != wait_for::catalog) return;
  wait_ = wait_for::nothing;
  out.resume_client = true;
  if (hold_.releasing == 0) release_ready();
}

} // namespace ledgergate::gate
