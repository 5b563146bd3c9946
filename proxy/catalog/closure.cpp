#include "proxy/catalog/closure.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "config/identifier.hpp"
#include "config/names.hpp"
#include "proxy/catalog/graph.hpp"
#include "proxy/catalog/link_builder.hpp"
#include "proxy/catalog/object_index.hpp"
#include "proxy/sql/touch_rules.hpp"

namespace ledgergate::catalog {

namespace {

using access = sql::closure_access;

/// A chain of reasons that is longer says no more.
constexpr std::size_t longest_chain = 12;

class closure_maker {
 public:
  closure_maker(const catalog_rows& rows, const config::settings& settings, link_switch kept)
      : rows_(rows), names_(sql::make_gated_names(settings)), objects_(rows, graph_) {
    special_.definitions = graph_.add_ways(1);
    special_.logins = graph_.add_ways(1);
    special_.listed_lock = graph_.add_ways(1);
    special_.rebuilds = graph_.add_ways(1);
    add_configured();
    link_builder links(rows, settings, objects_, graph_, special_, kept);
    links.add_all();
    graph_.close();
    make_report(links);
  }

  catalog_report take() { return std::move(report_); }

 private:
  void add_configured();
  void seed_table(const config::table_rule& rule, const object& table);
  void seed_control(const object& table);
  template <typename Seed>
  void seed_relations(const std::string& schema, const std::string& name, const Seed& seed);

  void make_report(const link_builder& links);
  void report_object(const object& which);
  void report_unseen(const link_builder& links);
  std::vector<std::string> chain_of(way_id from) const;
  bool is_configured(way_id from) const { return !graph_.at(from).because_of; }
  void add_access(gated_object& target, const char* name, way_id from) const;

  const catalog_rows& rows_;
  const sql::gated_names names_;
  graph graph_;
  object_index objects_;
  special_ways special_;
  std::shared_ptr<sql::catalog_closure> closure_ = std::make_shared<sql::catalog_closure>();
  catalog_report report_;
};

void closure_maker::seed_table(const config::table_rule& rule, const object& table) {
  const std::string reason = "configured, pin_on: " + std::string(config::to_string(rule.on));
  const auto seed = [&](access how, column_names columns) {
    graph_.seed(table.way(how), sql::touch_kind::touch, std::move(columns), reason);
  };
  seed(access::insert, rule.columns);
  seed(access::update, rule.columns);
  seed(access::remove, {});
  seed(access::truncate, {});
  if (rule.on == config::pin_on::write) return;
  seed(access::rewrite, {});
  seed(access::lock_for_reading, {});
  seed(access::lock_for_writing, {});
  if (rule.on == config::pin_on::any) seed(access::read, {});
}

void closure_maker::seed_control(const object& table) {
  const std::string reason = "configured, the control row";
  for (const access how : {access::read, access::lock_for_reading, access::rewrite})
    graph_.seed(table.way(how), sql::touch_kind::touch, {}, reason);
  for (const access how :
       {access::lock_for_writing, access::insert, access::update, access::remove, access::truncate})
    graph_.seed(table.way(how), sql::touch_kind::transition, {}, reason);
}

/// The tables of that name, and the partitions and inheriting tables that hold some of their rows.
template <typename Seed>
void closure_maker::seed_relations(const std::string& schema, const std::string& name, const Seed& seed) {
  std::vector<const object*> found = objects_.named(object_kind::relation, schema, name);
  if (found.empty()) found.push_back(&objects_.add_unknown(object_kind::relation, schema, name, graph_));
  std::set<const object*> seen(found.begin(), found.end());
  for (std::size_t next = 0; next < found.size(); ++next) {
    seed(*found[next]);
    for (const inheritance_row& row : rows_.inheritance) {
      if (found[next]->oid == 0 || row.parent != found[next]->oid) continue;
      const object* child = objects_.find(object_kind::relation, row.child);
      if (child != nullptr && seen.insert(child).second) found.push_back(child);
    }
  }
}

void closure_maker::add_configured() {
  for (const config::table_rule& rule : names_.tables)
    seed_relations(rule.schema, rule.name, [&](const object& table) { seed_table(rule, table); });
  if (names_.control_table) {
    seed_relations(names_.control_table->schema, names_.control_table->name,
                   [&](const object& table) { seed_control(table); });
  }
  for (const config::qualified_name& name : names_.functions) {
    std::vector<const object*> found = objects_.named(object_kind::function, name.schema, name.name);
    if (found.empty())
      found.push_back(&objects_.add_unknown(object_kind::function, name.schema, name.name, graph_));
    for (const object* function : found)
      graph_.seed(function->using_it(), sql::touch_kind::touch, {}, "configured, gate.functions");
  }
  graph_.seed(special_.listed_lock, sql::touch_kind::touch, {}, "configured, gate.pin_before_locks");
}

std::vector<std::string> closure_maker::chain_of(way_id from) const {
  std::vector<std::string> chain;
  for (const way* at = &graph_.at(from); chain.size() < longest_chain; at = &graph_.at(*at->because_of)) {
    chain.push_back(at->reason);
    if (!at->because_of) break;
  }
  return chain;
}

void closure_maker::add_access(gated_object& target, const char* name, way_id from) const {
  const way& found = graph_.at(from);
  if (found.touch == sql::touch_kind::none) return;
  gated_access made{{name}, found.touch, found.columns, chain_of(from), is_configured(from)};
  for (gated_access& each : target.accesses) {
    if (each.touch != made.touch || each.columns != made.columns || each.why != made.why) continue;
    each.accesses.emplace_back(name);
    return;
  }
  target.accesses.push_back(std::move(made));
}

void closure_maker::report_object(const object& which) {
  gated_object shown{which.what, which.schema, which.name, which.oid, {}};
  if (which.kind == object_kind::relation) {
    sql::closure_relation relation{which.schema, which.name, {}};
    for (std::size_t i = 0; i < sql::closure_access_count; ++i) {
      const auto how = static_cast<access>(i);
      const way& found = graph_.at(which.way(how));
      relation.on[i] = {found.touch, found.columns};
      add_access(shown, sql::to_string(how), which.way(how));
    }
    if (shown.accesses.empty()) return;
    closure_->relations.push_back(std::move(relation));
  } else {
    add_access(shown, which.kind == object_kind::function ? "call" : "use", which.making());
    if (which.way_count() > 1) add_access(shown, "use", which.using_it());
    if (shown.accesses.empty()) return;
    sql::closure_name name{which.schema, which.name, sql::touch_kind::touch, which.oid};
    for (const gated_access& each : shown.accesses)
      name.touch = std::max(name.touch, each.touch);
    auto& target = which.kind == object_kind::function    ? closure_->functions
                   : which.kind == object_kind::operation ? closure_->operators
                                                          : closure_->types;
    target.push_back(std::move(name));
  }
  report_.gated.push_back(std::move(shown));
}

void closure_maker::report_unseen(const link_builder& links) {
  for (const doubtful_function& each : links.doubtful()) {
    if (graph_.at(each.which->using_it()).touch != sql::touch_kind::none) continue;
    report_.unseen.push_back({each.which->what, each.which->schema, each.which->name, each.why});
  }
  std::map<std::string, std::size_t> in_c;
  for (const function_row& row : rows_.functions) {
    if (row.language == "c" && !row.extension.empty()) ++in_c[row.extension];
  }
  for (const auto& [extension, count] : in_c)
    report_.unseen.push_back(
        {"extension", {}, extension, "has " + std::to_string(count) + " functions in C"});
  for (const auto& [way, oid] : links.hidden_casts()) {
    if (graph_.at(way).touch == sql::touch_kind::none) continue;
    report_.unseen.push_back({"cast", {}, oid, "leads to the ledger and joins two built-in types"});
  }
  if (graph_.at(special_.logins).touch != sql::touch_kind::none) {
    report_.unseen.push_back(
        {"event trigger",
         {},
         "login",
         chain_of(special_.logins).front() + ": it runs before a session can be pinned"});
  }
}

void closure_maker::make_report(const link_builder& links) {
  for (std::size_t i = 0; i < objects_.size(); ++i)
    report_object(objects_.at(i));
  const auto report_statements = [&](const char* kind, const char* name, way_id at) {
    if (graph_.at(at).touch == sql::touch_kind::none) return;
    gated_object shown{kind, {}, name, 0, {}};
    add_access(shown, "execute", at);
    report_.gated.push_back(std::move(shown));
  };
  closure_->definitions = graph_.at(special_.definitions).touch;
  report_statements("data definition", "DDL", special_.definitions);
  closure_->rebuilds = graph_.at(special_.rebuilds).touch;
  report_statements("maintenance", "VACUUM, ANALYZE, REINDEX of whatever", special_.rebuilds);
  for (const function_row& row : rows_.functions)
    closure_->known_functions.push_back(row.oid);
  std::sort(closure_->known_functions.begin(), closure_->known_functions.end());
  report_unseen(links);
  const auto configured = [](const gated_object& each) {
    return std::any_of(each.accesses.begin(), each.accesses.end(),
                       [](const gated_access& one) { return one.configured; });
  };
  const auto key = [&](const gated_object& each) {
    return std::tuple<bool, const std::string&, const std::string&, const std::string&>(
        !configured(each), each.kind, each.name, each.schema);
  };
  std::sort(report_.gated.begin(), report_.gated.end(),
            [&](const gated_object& left, const gated_object& right) { return key(left) < key(right); });
  report_.closure = std::move(closure_);
}

} // namespace

catalog_report make_closure(const catalog_rows& rows, const config::settings& settings, link_switch kept) {
  return closure_maker(rows, settings, kept).take();
}

std::shared_ptr<const sql::catalog_closure> initial_closure(const config::settings& settings) {
  const config::catalog_settings& wanted = settings.gate.catalog;
  if (!wanted.closure || wanted.on_error == config::catalog_on_error::names_only) return nullptr;
  auto closure = std::make_shared<sql::catalog_closure>();
  closure->unread = true;
  return closure;
}

std::string shown_name(const std::string& schema, const std::string& name) {
  const bool is_operator =
      !name.empty() && std::string_view("+-*/<>=~!@#%^&|`?").find(name[0]) != std::string_view::npos;
  const std::string last = is_operator ? name : config::quote_identifier(name);
  return schema.empty() ? last : config::quote_identifier(schema) + "." + last;
}

} // namespace ledgergate::catalog
