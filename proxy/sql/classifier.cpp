#include "proxy/sql/classifier.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "proxy/sql/catalog_closure.hpp"
#include "proxy/sql/explanation.hpp"
#include "proxy/sql/isolation_mention.hpp"
#include "proxy/sql/lexer.hpp"
#include "proxy/sql/mention_scan.hpp"
#include "proxy/sql/parse.hpp"
#include "proxy/sql/touch_rules.hpp"
#include "proxy/sql/unreadable.hpp"
#include "proxy/sql/word_scan.hpp"

namespace ledgergate::sql {

namespace {

bool has_high_byte(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

/// A name as it stands in a text: inside double quotes a double quote is written twice.
std::string as_written(const std::string& name) {
  std::string text;
  for (const char c : name)
    text.append(c == '"' ? 2 : 1, c);
  return text;
}

mention_mask bit_of(const closure_mention& known) {
  if (known.strongest != touch_kind::transition) return mention::catalog;
  return known.is_relation ? mention::control_table : mention::transition;
}

/// The names of the closure that are looked for as whole words, which is what makes hundreds of them cheap.
word_scanner make_word_scanner(const gated_names& names) {
  std::vector<word_scanner::name> words;
  if (const catalog_closure* closure = names.closure.closure()) {
    for_each_name(*closure, [&](closure_mention known) {
      std::string text = as_written(known.name);
      if (word_scanner::may_take(text)) words.push_back({std::move(text), bit_of(known)});
    });
  }
  return word_scanner(std::move(words));
}

/// Names of the closure that begin with a short word or with none: operators, `u`, `"my table"`.
void add_other_names(const catalog_closure& closure, std::vector<mention_pattern>& patterns) {
  for_each_name(closure, [&](closure_mention known) {
    std::string text = as_written(known.name);
    if (word_scanner::may_take(text)) return;
    const bool is_word = std::all_of(text.begin(), text.end(), is_word_part);
    patterns.push_back(
        {std::move(text), is_word ? mention_bounds::whole_word : mention_bounds::anywhere, bit_of(known)});
  });
  const auto add_words = [&](touch_kind touch, std::initializer_list<const char*> words) {
    if (touch == touch_kind::none) return;
    const mention_mask bit = touch == touch_kind::transition ? mention::transition : mention::catalog;
    for (const char* word : words)
      patterns.push_back({word, mention_bounds::whole_word, bit});
  };
  add_words(closure.definitions, {"create", "alter", "drop", "grant", "revoke", "comment", "security",
                                  "import", "reindex", "refresh", "reassign", "into"});
  add_words(closure.rebuilds, {"vacuum", "analyze", "analyse", "cluster", "reindex"});
}

mention_scanner make_scanner(const gated_names& names) {
  std::vector<mention_pattern> patterns;
  if (const catalog_closure* closure = names.closure.closure()) add_other_names(*closure, patterns);
  const auto add = [&](std::string text, mention_bounds bounds, mention_mask bit) {
    patterns.push_back({std::move(text), bounds, bit});
  };
  for (const auto& rule : names.tables)
    add(as_written(rule.name), mention_bounds::anywhere, mention::table);
  for (const auto& gated : names.functions)
    add(as_written(gated.name), mention_bounds::anywhere, mention::function);
  if (names.control_table)
    add(as_written(names.control_table->name), mention_bounds::anywhere, mention::control_table);
  add("u&\"", mention_bounds::anywhere, mention::hidden_name);
  add("execute", mention_bounds::whole_word, mention::execute);
  add("prepare", mention_bounds::whole_word, mention::prepare);
  add("deallocate", mention_bounds::whole_word, mention::forget);
  add("discard", mention_bounds::whole_word, mention::forget);
  add("pg_advisory_unlock", mention_bounds::anywhere, mention::unlock);
  for (const char* text : {"_to_xml", "ts_stat", "ts_rewrite", "crosstab", "pg_input_"}) {
    add(text, mention_bounds::anywhere, mention::query_text);
  }
  if (!names.pin_before_locks.empty()) {
    add("pg_advisory_lock", mention_bounds::anywhere, mention::advisory_lock);
    add("pg_advisory_xact_lock", mention_bounds::anywhere, mention::advisory_lock);
    add("pg_try_advisory", mention_bounds::anywhere, mention::advisory_lock);
  }
  for (const char* text : {"isolation", "serializable", "repeatable", "characteristics", "set_config"}) {
    add(text, mention_bounds::anywhere, mention::isolation);
  }
  for (const char* word : {"enable", "extension", "schema"})
    add(word, mention_bounds::whole_word, mention::definition);
  add("reset", mention_bounds::whole_word, mention::isolation);
  add("discard", mention_bounds::whole_word, mention::isolation);
  // ON CONFLICT DO is no DO block, and stands in every upsert.
  patterns.push_back({"do", mention_bounds::whole_word, mention::do_block, {"nothing", "update"}});
  return mention_scanner(std::move(patterns));
}

bool closure_has_non_ascii_name(const closure_rules& rules) {
  bool found = false;
  if (rules.closure() == nullptr) return false;
  for_each_name(*rules.closure(), [&](closure_mention known) { found = found || has_high_byte(known.name); });
  return found;
}

bool has_non_ascii_name(const gated_names& names) {
  const auto non_ascii = [](const auto& named) { return has_high_byte(named.name); };
  return std::any_of(names.tables.begin(), names.tables.end(), non_ascii) ||
         std::any_of(names.functions.begin(), names.functions.end(), non_ascii) ||
         (names.control_table && has_high_byte(names.control_table->name)) ||
         closure_has_non_ascii_name(names.closure);
}

text_shape shape_of(const std::vector<statement_facts>& statements) {
  if (statements.empty()) return text_shape::empty;
  if (statements.size() > 1) return text_shape::several;
  if (statements.front().kind != statement_kind::plain_dml) return text_shape::other_single;
  return statements.front().uses_parameters ? text_shape::dml_with_params : text_shape::plain_dml;
}

/// Everything in the verdict that is not the judgement.
void add_facts(text_verdict& verdict, statement_facts& facts, touch_kind touch, const gated_names& names) {
  const bool is_control =
      facts.control != control_kind::none && facts.control != control_kind::set_transaction;
  verdict.has_transaction_control = verdict.has_transaction_control || is_control;
  verdict.forgets_statements = verdict.forgets_statements || facts.discards_all || facts.deallocates_all;
  verdict.modifies =
      verdict.modifies ||
      std::any_of(facts.relations.begin(), facts.relations.end(), [](const relation_access& access) {
        return access.how == access_kind::insert || access.how == access_kind::update ||
               access.how == access_kind::remove;
      });
  verdict.may_commit_inside = verdict.may_commit_inside || facts.kind == statement_kind::do_block ||
                              facts.kind == statement_kind::call;
  const bool drops = drops_session_locks(facts, names);
  if (facts.kind == statement_kind::prepare) {
    verdict.prepares.push_back({std::move(facts.prepares), touch, drops});
  } else {
    verdict.drops_session_locks = verdict.drops_session_locks || drops;
  }
  if (!facts.executes.empty()) verdict.executes.push_back(std::move(facts.executes));
  if (!facts.deallocates.empty()) verdict.deallocates.push_back(std::move(facts.deallocates));
}

void note_prepared_transaction(text_verdict& verdict, const std::vector<statement_facts>& statements) {
  const auto prepares = [](const statement_facts& facts) {
    return facts.control == control_kind::prepare_transaction;
  };
  const auto is_control = [](const statement_facts& facts) {
    return facts.control != control_kind::none && facts.control != control_kind::set_transaction;
  };
  verdict.prepares_transaction = std::any_of(statements.begin(), statements.end(), prepares);
  verdict.only_prepares_at_its_end =
      prepares(statements.back()) && std::count_if(statements.begin(), statements.end(), is_control) == 1;
}

text_verdict judge_text(std::vector<statement_facts> statements, const gated_names& names) {
  text_verdict verdict;
  judgement strongest;
  verdict.shape = shape_of(statements);
  if (!statements.empty()) {
    verdict.first = statements.front().control;
    note_prepared_transaction(verdict, statements);
  }
  for (statement_facts& facts : statements) {
    judgement judged = judge(facts, names);
    add_facts(verdict, facts, judged.touch, names);
    // PREPARE looks at nothing: what it prepared touches when it is executed.
    if (facts.kind != statement_kind::prepare) strongest.merge(std::move(judged));
  }
  verdict.touch = strongest.touch;
  verdict.reason = strongest.reason;
  verdict.name = std::move(strongest.name);
  return verdict;
}

/// What the statements of a text define.
struct definitions {
  bool named = false;  ///< something that leads to the ledger only if it names what does
  bool unseen = false; ///< something that may lead there without naming it
};

/// `types_matter`: a column may lead to the ledger by its type alone.
definitions definitions_in(const std::vector<statement_facts>& statements, bool types_matter) {
  definitions found;
  for (const statement_facts& facts : statements) {
    found.named = found.named || facts.defines || (facts.defines_by_query && types_matter);
    found.unseen = found.unseen || facts.defines_unseen;
  }
  return found;
}

/// What a text defines, the rest of it may use, and no catalog knows it yet.
void mind_definitions(text_verdict& verdict, std::string_view text, const definitions& found,
                      mention_mask mentioned) {
  const bool in_do =
      (mentioned & mention::do_block) != 0 && verdict.may_commit_inside && has_defining_word(text);
  verdict.defines_a_way = in_do || found.unseen || (found.named && (mentioned & mention::can_touch) != 0);
  if (!verdict.defines_a_way || verdict.touch != touch_kind::none || verdict.shape != text_shape::several)
    return;
  verdict.touch = touch_kind::touch;
  verdict.reason = touch_reason::new_definition;
}

} // namespace

struct classifier::impl {
  gated_names names;
  mention_scanner scanner;
  word_scanner words;
  bool has_non_ascii_name;

  impl(const config::settings& settings, std::shared_ptr<const catalog_closure> closure)
      : names(make_gated_names(settings, std::move(closure))), scanner(make_scanner(names)),
        words(make_word_scanner(names)), has_non_ascii_name(sql::has_non_ascii_name(names)) {}

  mention_mask find(std::string_view text) const {
    const mention_mask unread = names.closure.unread() ? mention::unread_catalog : 0;
    return scanner.find(text) | words.find(text) | unread;
  }

  /// Case folding and encoding of such a name depend on the server: when the bytes need not be UTF-8, any of
  /// them may be it.
  bool could_be_reencoded(std::string_view text, const reading_context& context) const {
    return has_non_ascii_name && !context.utf8 && has_high_byte(text);
  }

  text_verdict classify(std::string_view text, mention_mask mentioned, const reading_context& context) const;
};

classifier::classifier(const config::settings& settings, std::shared_ptr<const catalog_closure> closure)
    : impl_(std::make_unique<const impl>(settings, std::move(closure))) {}
classifier::~classifier() = default;

bool classifier::is_candidate(std::string_view text, const reading_context& context) const {
  return (impl_->find(text) & ~mention::isolation) != 0 || impl_->could_be_reencoded(text, context);
}

text_verdict classifier::impl::classify(std::string_view text, mention_mask mentioned,
                                        const reading_context& context) const {
  const bool reencoded = could_be_reencoded(text, context);
  if (mentioned == 0 && !reencoded) return {};
  if (reencoded) return judge_unreadable(text, mentioned | mention::table, "encoding");
  if (!context.standard_conforming_strings && text.find('\\') != std::string_view::npos) {
    return judge_unreadable(text, mentioned, "escape");
  }
  if (!context.utf8_safe_encoding && has_high_byte(text))
    return judge_unreadable(text, mentioned, "encoding");
  parse_result parsed = parse(text);
  if (parsed.error != nullptr) return judge_unreadable(text, mentioned, parsed.error);
  const catalog_closure* closure = names.closure.closure();
  const definitions defined =
      definitions_in(parsed.statements, closure != nullptr && !closure->types.empty());
  text_verdict verdict = judge_text(std::move(parsed.statements), names);
  verdict.redefines_unseen =
      verdict.reason == touch_reason::do_block && (mentioned & (mention::prepare | mention::forget)) != 0;
  mind_definitions(verdict, text, defined, mentioned);
  // The body of a DO block is text: what it calls is known only as far as it names it.
  if (verdict.may_commit_inside && (mentioned & mention::unlock) != 0) verdict.drops_session_locks = true;
  return verdict;
}

text_verdict classifier::classify(std::string_view text, const reading_context& context) const {
  const mention_mask mentioned = impl_->find(text);
  text_verdict verdict = impl_->classify(text, mentioned & ~mention::isolation, context);
  if ((mentioned & mention::isolation) != 0) verdict.isolation = isolation_of(text);
  return verdict;
}

explained_text classifier::explain(std::string_view text, const reading_context& context) const {
  explained_text out;
  out.verdict = classify(text, context);
  parse_result parsed = parse(text);
  if (parsed.error != nullptr) {
    out.parse_message = parsed.message.empty() ? parsed.error : parsed.message;
    out.parse_position = parsed.position;
    return out;
  }
  for (const statement_facts& facts : parsed.statements) {
    judgement judged = judge(facts, impl_->names);
    const std::size_t size = facts.size == 0 ? text.size() - facts.offset : facts.size;
    out.statements.push_back({facts.offset, size, judged.touch, judged.reason, std::move(judged.name),
                              std::move(judged.schema), judged.access});
  }
  return out;
}

touch_kind classifier::judge_function(std::uint32_t oid) const { return impl_->names.closure.judge_oid(oid); }

touch_kind classifier::judge_type(std::uint32_t oid) const { return impl_->names.closure.judge_type(oid); }

bool encoding_hides_ascii(std::string_view client_encoding) {
  // The client-only encodings of PostgreSQL (manual, section 24.3.1), as ParameterStatus spells them, plus
  // the names SQL accepts.
  static constexpr std::array<std::string_view, 12> names = {"sjis",       "shiftjis", "mskanji",    "win932",
                                                             "windows932", "big5",     "windows950", "win950",
                                                             "gbk",        "uhc",      "gb18030",    "johab"};
  static constexpr std::array<std::string_view, 5> more = {"win936", "windows936", "win949", "windows949",
                                                           "shiftjis2004"};
  std::string plain;
  for (const char c : client_encoding) {
    if (is_digit(c) || (fold_ascii(c) >= 'a' && fold_ascii(c) <= 'z')) plain += fold_ascii(c);
  }
  return std::find(names.begin(), names.end(), plain) != names.end() ||
         std::find(more.begin(), more.end(), plain) != more.end();
}

const char* to_string(touch_kind kind) {
  switch (kind) {
  case touch_kind::none: return "none";
  case touch_kind::touch: return "touch";
  case touch_kind::transition: return "transition";
  }
  return "unknown";
}

const char* to_string(touch_reason reason) {
  switch (reason) {
  case touch_reason::not_mentioned: return "not_mentioned";
  case touch_reason::no_rule_matches: return "no_rule_matches";
  case touch_reason::table: return "table";
  case touch_reason::function: return "function";
  case touch_reason::control_row: return "control_row";
  case touch_reason::advisory_lock: return "advisory_lock";
  case touch_reason::do_block: return "do_block";
  case touch_reason::unparsed: return "unparsed";
  case touch_reason::new_definition: return "new_definition";
  case touch_reason::catalog: return "catalog";
  }
  return "unknown";
}

const char* to_string(text_shape shape) {
  switch (shape) {
  case text_shape::plain_dml: return "plain_dml";
  case text_shape::dml_with_params: return "dml_with_params";
  case text_shape::other_single: return "other_single";
  case text_shape::several: return "several";
  case text_shape::empty: return "empty";
  case text_shape::unknown: return "unknown";
  }
  return "unknown";
}

} // namespace ledgergate::sql
