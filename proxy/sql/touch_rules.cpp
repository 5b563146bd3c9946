#include "proxy/sql/touch_rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/sql/lexer.hpp"
#include "proxy/sql/mention_scan.hpp"
#include "proxy/sql/schema_name.hpp"
#include "proxy/sql/write_targets.hpp"

namespace ledgergate::sql {

namespace {

bool same_table(const std::string& rule_schema, const std::string& rule_name, const relation_access& access) {
  return rule_name == access.name && may_be_same_schema(rule_schema, access.schema);
}

bool is_row_write(access_kind how) {
  return how == access_kind::insert || how == access_kind::update || how == access_kind::remove ||
         how == access_kind::truncate;
}

// A rule with columns asks whether one of them is assigned. DELETE and TRUNCATE take every column away.
bool assigns_any(const relation_access& access, const std::vector<std::string>& columns) {
  if (columns.empty() || access.all_columns || access.how == access_kind::remove ||
      access.how == access_kind::truncate) {
    return true;
  }
  return std::find_first_of(access.columns.begin(), access.columns.end(), columns.begin(), columns.end()) !=
         access.columns.end();
}

bool matches(const config::table_rule& rule, const relation_access& access) {
  if (access.how == access_kind::rebuild || !same_table(rule.schema, rule.name, access)) return false;
  switch (rule.on) {
  case config::pin_on::any: return true;
  case config::pin_on::lock: return access.how != access_kind::read;
  case config::pin_on::write: return is_row_write(access.how) && assigns_any(access, rule.columns);
  }
  return true;
}

// The mode changes by a write of the control row; FOR UPDATE and FOR NO KEY UPDATE announce one, as does a
// table lock that writers take. FOR [KEY] SHARE is how clients pinned the mode before there was a gate: a
// touch.
bool changes_mode(access_kind how) {
  return is_row_write(how) || how == access_kind::lock_for_update ||
         how == access_kind::lock_for_no_key_update || how == access_kind::lock_table_for_writing;
}

judgement judge_relation(const relation_access& access, const gated_names& names) {
  if (names.control_table && access.how != access_kind::rebuild &&
      same_table(names.control_table->schema, names.control_table->name, access)) {
    const touch_kind kind = changes_mode(access.how) ? touch_kind::transition : touch_kind::touch;
    return {kind, touch_reason::control_row, access.name, access.schema,
            to_string(closure_access_of(access.how))};
  }
  for (const config::table_rule& rule : names.tables) {
    if (matches(rule, access))
      return {touch_kind::touch, touch_reason::table, access.name, access.schema,
              to_string(closure_access_of(access.how))};
  }
  return {};
}

bool takes_advisory_lock(std::string_view function) {
  return function.starts_with("pg_advisory_lock") || function.starts_with("pg_advisory_xact_lock") ||
         function.starts_with("pg_try_advisory_");
}

// Only the two-key form has a namespace. One that is computed could be any: fail closed (G7).
bool is_listed_lock(const function_call& call, const std::vector<std::int32_t>& namespaces) {
  if (namespaces.empty() || call.argument_count != 2 || !takes_advisory_lock(call.name)) return false;
  if (!call.first_integer) return true;
  return std::find(namespaces.begin(), namespaces.end(), *call.first_integer) != namespaces.end();
}

bool mentions_gated(std::string_view text, const gated_names& names) {
  if (names.control_table && contains_folded(text, names.control_table->name)) return true;
  const auto in_text = [&](const auto& rule) { return contains_folded(text, rule.name); };
  return std::any_of(names.tables.begin(), names.tables.end(), in_text) ||
         std::any_of(names.functions.begin(), names.functions.end(), in_text) ||
         names.closure.any_name_in(text);
}

judgement judge_call(const function_call& call, const gated_names& names) {
  for (const config::qualified_name& gated : names.functions) {
    if (gated.name == call.name && may_be_same_schema(gated.schema, call.schema))
      return {touch_kind::touch, touch_reason::function, call.name, call.schema, "call"};
  }
  if (is_listed_lock(call, names.pin_before_locks))
    return {touch_kind::touch, touch_reason::advisory_lock, call.name, call.schema, "call"};
  if (runs_query_text(call.name)) {
    // A query in a constant can be looked at; one that is computed, or a whole schema, cannot (G7).
    const bool all_constant = call.argument_count > 0 && !call.text_arguments.empty() &&
                              !call.name.starts_with("schema_") && !call.name.starts_with("database_") &&
                              !call.has_computed_text;
    const auto gated = [&](const std::string& text) { return mentions_gated(text, names); };
    if (!all_constant || std::any_of(call.text_arguments.begin(), call.text_arguments.end(), gated)) {
      return {touch_kind::touch, touch_reason::function, call.name, call.schema, "call"};
    }
  }
  return {};
}

judgement judge_do(const statement_facts& facts, const gated_names& names) {
  // The body is not parsed, so DO always touches; one that may change the control row is a transition.
  if (names.control_table && contains_folded(facts.do_body, names.control_table->name)) {
    const auto seen = accesses_in(facts.do_body, names.control_table->name);
    if (seen ? seen->changes() : has_writing_word(facts.do_body))
      return {touch_kind::transition, touch_reason::do_block, names.control_table->name};
  }
  if (names.closure.transition_in(facts.do_body))
    return {touch_kind::transition, touch_reason::do_block, "DO"};
  return {touch_kind::touch, touch_reason::do_block, "DO"};
}

} // namespace

gated_names make_gated_names(const config::settings& settings,
                             std::shared_ptr<const catalog_closure> closure) {
  gated_names names;
  names.closure = closure_rules(std::move(closure));
  names.tables = settings.gate.tables;
  // The settings hold functions as `schema.name`, folded and without quotes; the control table stands as it
  // was written.
  for (const std::string& function : settings.gate.functions) {
    const std::size_t dot = function.find('.');
    names.functions.push_back(
        dot == std::string::npos ? config::qualified_name{{}, function}
                                 : config::qualified_name{function.substr(0, dot), function.substr(dot + 1)});
  }
  if (auto control = config::parse_qualified_name(settings.control_row.table))
    names.control_table = std::move(*control);
  names.pin_before_locks = settings.gate.pin_before_locks;
  names.lock_keys.push_back(settings.gate.lock_key);
  if (settings.gate.applier_lock_key) names.lock_keys.push_back(*settings.gate.applier_lock_key);
  return names;
}

judgement judge(const statement_facts& facts, const gated_names& names) {
  judgement result;
  if (facts.kind == statement_kind::do_block) result.merge(judge_do(facts, names));
  for (const relation_access& access : facts.relations)
    result.merge(judge_relation(access, names));
  for (const function_call& call : facts.functions)
    result.merge(judge_call(call, names));
  result.merge(names.closure.judge(facts));
  return result;
}

bool drops_session_locks(const statement_facts& facts, const gated_names& names) {
  if (facts.discards_all) return true;
  return std::any_of(facts.functions.begin(), facts.functions.end(), [&](const function_call& call) {
    if (call.name == "pg_advisory_unlock_all") return true;
    if (call.name != "pg_advisory_unlock_shared" && call.name != "pg_advisory_unlock") return false;
    // The form with two keys names another lock than any single key does.
    if (call.argument_count != 1) return false;
    return !call.first_integer || std::find(names.lock_keys.begin(), names.lock_keys.end(),
                                            *call.first_integer) != names.lock_keys.end();
  });
}

bool runs_query_text(std::string_view name) {
  static constexpr std::array<std::string_view, 5> xml_prefixes = {
      "query_to_xml", "table_to_xml", "cursor_to_xml", "schema_to_xml", "database_to_xml"};
  return std::any_of(xml_prefixes.begin(), xml_prefixes.end(),
                     [&](auto prefix) { return name.starts_with(prefix); }) ||
         name.starts_with("pg_input_") || name == "ts_stat" || name == "ts_rewrite" ||
         name.starts_with("crosstab");
}

bool has_writing_word(std::string_view text) {
  static const mention_scanner words({{"insert", mention_bounds::whole_word},
                                      {"update", mention_bounds::whole_word},
                                      {"delete", mention_bounds::whole_word},
                                      {"merge", mention_bounds::whole_word},
                                      {"truncate", mention_bounds::whole_word},
                                      {"copy", mention_bounds::whole_word},
                                      {"lock", mention_bounds::whole_word}});
  return words.any(text);
}

bool has_defining_word(std::string_view text) {
  static const mention_scanner words(
      {{"create", mention_bounds::whole_word}, {"alter", mention_bounds::whole_word}});
  return words.any(text);
}

bool contains_folded(std::string_view text, std::string_view name) {
  const auto same = [](char a, char b) { return fold_ascii(a) == fold_ascii(b); };
  return std::search(text.begin(), text.end(), name.begin(), name.end(), same) != text.end();
}

} // namespace ledgergate::sql
