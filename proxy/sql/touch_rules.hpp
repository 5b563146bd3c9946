// The rules of the gate over the facts of one statement: does it touch, and by which rule. A pure function.
// Names match whether or not they are schema-qualified, unless rule and statement both name a schema and they
// differ; the temporary schemas of all sessions are one. A temporary table, a WITH query or a search_path can
// give a name another meaning: then the lock is taken for nothing, which is the safe side.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/identifier.hpp"
#include "config/settings.hpp"
#include "proxy/sql/classifier.hpp"
#include "proxy/sql/closure_rules.hpp"
#include "proxy/sql/judgement.hpp"
#include "proxy/sql/statement_facts.hpp"

namespace ledgergate::sql {

/// What the rules know: names from the configuration and the catalogs, ready to compare.
struct gated_names {
  std::vector<config::table_rule> tables;
  std::vector<config::qualified_name> functions;
  std::optional<config::qualified_name> control_table;
  std::vector<std::int32_t> pin_before_locks;
  std::vector<std::int64_t> lock_keys; ///< the gate key, and the applier key when there is one
  closure_rules closure;               ///< what the catalogs say leads to those
};
gated_names make_gated_names(const config::settings& settings,
                             std::shared_ptr<const catalog_closure> closure = nullptr);

judgement judge(const statement_facts& facts, const gated_names& names);

/// The statement calls a function after which a session-level lock of one of the keys may be gone.
bool drops_session_locks(const statement_facts& facts, const gated_names& names);

/// Built-in functions that run a query given to them as text, or make a value of a type given so: a gated
/// name may stand in a string, or in no text at all.
bool runs_query_text(std::string_view function_name);

/// Some word of the text could begin a write (INSERT, UPDATE, .. as whole words anywhere, strings and
/// comments included).
bool has_writing_word(std::string_view text);

/// CREATE or ALTER as whole words anywhere, strings and comments included.
bool has_defining_word(std::string_view text);

/// Occurs in the text, ASCII case folded.
bool contains_folded(std::string_view text, std::string_view name);

} // namespace ledgergate::sql
