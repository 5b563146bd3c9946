#include "proxy/sql/closure_rules.hpp"

#include <algorithm>
#include <utility>

#include "proxy/sql/lexer.hpp"
#include "proxy/sql/schema_name.hpp"
#include "proxy/sql/touch_rules.hpp"

namespace ledgergate::sql {

namespace {

bool assigns_any(const relation_access& access, const std::vector<std::string>& columns) {
  if (columns.empty() || access.all_columns) return true;
  return std::find_first_of(access.columns.begin(), access.columns.end(), columns.begin(), columns.end()) !=
         access.columns.end();
}

touch_kind strongest_of(const closure_relation& relation) {
  touch_kind strongest = touch_kind::none;
  for (const closure_touch& each : relation.on)
    strongest = std::max(strongest, each.touch);
  return strongest;
}

/// Transaction control, settings, definitions: nothing that reads, writes or calls.
bool is_harmless(const statement_facts& facts) {
  return facts.kind == statement_kind::control || facts.is_inert;
}

} // namespace

closure_access closure_access_of(access_kind how) {
  switch (how) {
  case access_kind::read: return closure_access::read;
  case access_kind::lock_for_key_share:
  case access_kind::lock_for_share:
  case access_kind::lock_table_for_reading: return closure_access::lock_for_reading;
  case access_kind::lock_for_no_key_update:
  case access_kind::lock_for_update:
  case access_kind::lock_table_for_writing: return closure_access::lock_for_writing;
  case access_kind::insert: return closure_access::insert;
  case access_kind::update: return closure_access::update;
  case access_kind::remove: return closure_access::remove;
  case access_kind::truncate: return closure_access::truncate;
  case access_kind::rebuild: return closure_access::rebuild;
  case access_kind::rewrite: return closure_access::rewrite;
  }
  return closure_access::read;
}

const char* to_string(closure_access access) {
  switch (access) {
  case closure_access::read: return "read";
  case closure_access::lock_for_reading: return "share_lock";
  case closure_access::lock_for_writing: return "row_lock";
  case closure_access::insert: return "insert";
  case closure_access::update: return "update";
  case closure_access::remove: return "delete";
  case closure_access::truncate: return "truncate";
  case closure_access::rebuild: return "rebuild";
  case closure_access::rewrite: return "rewrite";
  }
  return "unknown";
}

closure_rules::closure_rules(std::shared_ptr<const catalog_closure> closure) : closure_(std::move(closure)) {
  if (closure_ == nullptr) return;
  for (const closure_relation& each : closure_->relations)
    relations_.emplace(each.name, each);
  const auto index = [](by_name<closure_name>& target, const std::vector<closure_name>& names) {
    for (const closure_name& each : names)
      target.emplace(each.name, each);
  };
  index(functions_, closure_->functions);
  index(operators_, closure_->operators);
  index(types_, closure_->types);
}

judgement closure_rules::judge_relation(const relation_access& access) const {
  judgement result;
  const auto [first, last] = relations_.equal_range(access.name);
  for (auto at = first; at != last; ++at) {
    const closure_relation& relation = at->second;
    const closure_touch& way = relation.on[static_cast<std::size_t>(closure_access_of(access.how))];
    if (way.touch == touch_kind::none || !may_be_same_schema(relation.schema, access.schema)) continue;
    if (assigns_any(access, way.columns))
      result.merge({way.touch, touch_reason::catalog, access.name, access.schema,
                    to_string(closure_access_of(access.how))});
  }
  return result;
}

judgement closure_rules::judge_name(const by_name<closure_name>& names, const std::string& schema,
                                    const std::string& name, const char* use) {
  judgement result;
  const auto [first, last] = names.equal_range(name);
  for (auto at = first; at != last; ++at) {
    const closure_name& known = at->second;
    if (may_be_same_schema(known.schema, schema))
      result.merge({known.touch, touch_reason::catalog, name, schema, use});
  }
  return result;
}

judgement closure_rules::judge(const statement_facts& facts) const {
  judgement result;
  if (closure_ == nullptr) return result;
  if (closure_->unread) {
    if (!is_harmless(facts))
      result.merge({touch_kind::touch, touch_reason::catalog, "the catalog was not read yet"});
    return result;
  }
  if (facts.is_definition) result.merge({closure_->definitions, touch_reason::catalog, "an event trigger"});
  if (facts.rebuilds_unnamed)
    result.merge({closure_->rebuilds, touch_reason::catalog, "an index or statistics"});
  for (const relation_access& access : facts.relations)
    result.merge(judge_relation(access));
  for (const function_call& call : facts.functions) {
    result.merge(judge_name(functions_, call.schema, call.name, "call"));
    result.merge(judge_name(types_, call.schema, call.name, "use")); // a cast may look like a call
  }
  for (const object_name& used : facts.operators)
    result.merge(judge_name(operators_, used.schema, used.name, "use"));
  for (const object_name& used : facts.types)
    result.merge(judge_name(types_, used.schema, used.name, "use"));
  return result;
}

bool closure_rules::any_name_in(std::string_view text) const {
  bool found = false;
  if (closure_ == nullptr) return false;
  for_each_name(*closure_,
                [&](closure_mention known) { found = found || contains_folded(text, known.name); });
  return found;
}

bool closure_rules::transition_in(std::string_view text) const {
  bool found = false;
  if (closure_ == nullptr) return false;
  const bool writes = has_writing_word(text);
  for_each_name(*closure_, [&](closure_mention known) {
    found = found || (known.strongest == touch_kind::transition && (writes || !known.is_relation) &&
                      contains_folded(text, known.name));
  });
  return found;
}

touch_kind closure_rules::judge_type(std::uint32_t oid) const {
  touch_kind strongest = touch_kind::none;
  if (closure_ == nullptr) return strongest;
  for (const closure_name& each : closure_->types) {
    if (each.oid == oid) strongest = std::max(strongest, each.touch);
  }
  return strongest;
}

touch_kind closure_rules::judge_oid(std::uint32_t oid) const {
  if (closure_ == nullptr || closure_->unread) return touch_kind::touch;
  const auto& known = closure_->known_functions;
  if (!std::binary_search(known.begin(), known.end(), oid)) return touch_kind::touch;
  const auto found = std::find_if(closure_->functions.begin(), closure_->functions.end(),
                                  [oid](const closure_name& each) { return each.oid == oid; });
  return found != closure_->functions.end() ? found->touch : touch_kind::none;
}

void for_each_name(const catalog_closure& closure, const std::function<void(closure_mention)>& visit) {
  for (const closure_relation& each : closure.relations)
    visit({each.name, strongest_of(each), true});
  for (const auto* names : {&closure.functions, &closure.operators, &closure.types}) {
    for (const closure_name& each : *names)
      visit({each.name, each.touch, false});
  }
}

} // namespace ledgergate::sql
