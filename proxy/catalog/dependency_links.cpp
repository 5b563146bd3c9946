// Links from pg_depend: what views, rules, defaults, constraints, policies, indexes, operators, types, casts
// and standard SQL bodies need.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/catalog/link_builder.hpp"

namespace ledgergate::catalog {

namespace {

using access = sql::closure_access;

std::uint64_t key_of(object_class of, object_id oid) { return (static_cast<std::uint64_t>(of) << 32U) | oid; }
std::uint64_t key_of(object_id left, object_id right) { return (std::uint64_t{left} << 32U) | right; }

std::string shown(const object& which) { return shown_name(which.schema, which.name); }

const std::vector<access> writes = {access::insert, access::update};
const std::vector<access> all_but_truncate = {
    access::read,   access::lock_for_reading, access::lock_for_writing,
    access::insert, access::update,           access::remove};
const std::vector<access> writes_and_rewrites = {access::insert, access::update, access::rewrite};
const std::vector<access> writes_and_rebuilds = {access::insert, access::update, access::rebuild};
const std::vector<access> all_of_a_definition = {
    access::read,   access::lock_for_reading, access::lock_for_writing, access::insert,
    access::update, access::remove,           access::rebuild,          access::rewrite};

/// Which accesses a policy applies to. SELECT policies apply to whatever returns or filters rows, UPDATE
/// policies to row locks and to the update of an upsert.
std::vector<access> policy_accesses(char command) {
  switch (command) {
  case 'a': return {access::insert};
  case 'w': return {access::lock_for_reading, access::lock_for_writing, access::update};
  case 'd': return {access::remove};
  default: return all_but_truncate;
  }
}

/// Operators that a text can use without writing them (IN, BETWEEN, LIKE, DISTINCT, ORDER BY, ..).
bool is_implicit(std::string_view symbol) {
  static constexpr std::array<std::string_view, 11> symbols = {
      "=", "<>", "<", ">", "<=", ">=", "~~", "!~~", "~~*", "!~~*", "!="};
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

} // namespace

void link_builder::describe_event(dependent& target, const object& relation, const accesses& on,
                                  std::string reason, column_names only_if) {
  for (const access how : on) {
    beginning& made = target.beginnings.emplace_back();
    made.begun.kind = kind_;
    made.begun.from = relation.way(how);
    made.begun.reason = reason;
    if (how == access::update) made.begun.only_if = only_if;
    made.makes_values = how == access::insert || how == access::update || how == access::rewrite;
  }
}

void link_builder::describe_rules() {
  for (const rule_row& row : rows_.rules) {
    const object* owner = relation(row.relation);
    if (owner == nullptr || row.enabled == 'D') continue;
    dependent& made = dependents_[key_of(object_class::rule, row.oid)];
    if (row.event == '1') {
      // Whatever is done to a view evaluates it. REFRESH counts as an INSERT of a materialised view.
      made.view = owner;
      made.commands = row.commands;
      kind_ = owner->what == "materialized view" ? link_kind::materialized_view : link_kind::view;
      describe_event(made, *owner, all_but_truncate, owner->what + " over");
      continue;
    }
    const access how = row.event == '2' ? access::update : row.event == '3' ? access::insert : access::remove;
    made.commands = row.commands + "1";
    kind_ = link_kind::rule;
    describe_event(made, *owner, {how},
                   "rule " + shown_name({}, row.name) + " on " + sql::to_string(how) + " uses");
  }
  for (const view_column_row& row : rows_.view_columns) {
    auto& columns = shown_columns_[key_of(row.view, row.origin)];
    if (columns == nullptr) columns = std::make_shared<column_map>();
    if (!row.origin_column.empty()) columns->emplace_back(row.origin_column, row.name);
  }
}

void link_builder::describe_column_rules() {
  for (const default_row& row : rows_.defaults) {
    const object* owner = relation(row.relation);
    if (owner == nullptr) continue;
    dependent& made = dependents_[key_of(object_class::default_value, row.oid)];
    const bool generated = row.generated == 's' || row.generated == 'v';
    kind_ = generated ? link_kind::generated_column : link_kind::default_value;
    const std::string reason = (generated ? "generated column " : "default of column ") +
                               shown_name({}, row.column) + " of " + shown(*owner) + " calls";
    // An index or a check may be over a virtual column.
    describe_event(made, *owner,
                   row.generated == 'v'   ? all_of_a_definition
                   : row.generated == 's' ? writes_and_rewrites
                                          : writes,
                   reason, generated ? column_names{} : column_names{row.column});
  }
}

void link_builder::describe_checks() {
  for (const check_row& row : rows_.checks) {
    dependent& made = dependents_[key_of(object_class::constraint, row.oid)];
    const std::string reason = "check constraint " + shown_name({}, row.name) + " calls";
    kind_ = link_kind::check;
    if (const object* owner = relation(row.relation))
      describe_event(made, *owner, writes_and_rewrites, reason);
    kind_ = link_kind::domain;
    if (const object* domain = objects_.find(object_kind::type, row.domain))
      begin(object_class::constraint, row.oid, domain->making(), reason);
  }
  kind_ = link_kind::policy;
  for (const policy_row& row : rows_.policies) {
    const object* owner = relation(row.relation);
    if (owner == nullptr) continue;
    dependent& made = dependents_[key_of(object_class::policy, row.oid)];
    made.commands = row.commands;
    describe_event(made, *owner, policy_accesses(row.command),
                   "policy " + shown_name({}, row.name) + " of " + shown(*owner) + " uses");
  }
}

void link_builder::describe_indexes() {
  kind_ = link_kind::index;
  for (const index_row& row : rows_.indexes) {
    const object* owner = relation(row.relation);
    if (owner == nullptr) continue;
    describe_event(dependents_[key_of(object_class::relation, row.oid)], *owner, writes_and_rebuilds,
                   "index " + shown_name({}, row.name) + " of " + shown(*owner) + " calls");
  }
  kind_ = link_kind::statistics;
  for (const statistics_row& row : rows_.statistics) {
    const object* owner = relation(row.relation);
    if (owner == nullptr) continue;
    describe_event(dependents_[key_of(object_class::statistics, row.oid)], *owner, {access::rebuild},
                   "statistics " + shown_name({}, row.name) + " of " + shown(*owner) + " call");
  }
}

link_builder::dependent& link_builder::begin(object_class of, object_id oid, way_id from, std::string reason,
                                             bool makes_values) {
  dependent& made = dependents_[key_of(of, oid)];
  beginning& first = made.beginnings.emplace_back();
  first.begun.kind = kind_;
  first.begun.from = from;
  first.begun.reason = std::move(reason);
  first.makes_values = makes_values;
  return made;
}

/// False for PostgreSQL's own types.
bool link_builder::begin_type(object_class of, object_id oid, object_id type, const std::string& reason) {
  const object* which = objects_.find(object_kind::type, type);
  if (which == nullptr) return false;
  begin(of, oid, which->making(), reason);
  begin(of, oid, which->using_it(), reason, false);
  return true;
}

void link_builder::describe_functions() {
  for (const function_row& row : rows_.functions) {
    const object* function = objects_.find(object_kind::function, row.oid);
    kind_ = row.kind == 'a'       ? link_kind::aggregate
            : row.kind == 'p'     ? link_kind::procedure
            : row.atomic_commands ? link_kind::standard_body
                                  : link_kind::type;
    const std::string reason = (row.kind == 'a'       ? "aggregate "
                                : row.atomic_commands ? "the body of "
                                                      : "the definition of ") +
                               shown(*function) + " uses";
    dependent& made = begin(object_class::function, row.oid, function->using_it(), reason);
    if (row.atomic_commands) made.commands = *row.atomic_commands;
  }
  kind_ = link_kind::trigger_condition;
  for (const trigger_row& row : rows_.triggers) {
    const object* owner = relation(row.relation);
    if (owner == nullptr || row.enabled == 'D') continue;
    accesses on;
    if ((row.type & 4) != 0) on.push_back(access::insert);
    if ((row.type & 8) != 0) on.push_back(access::remove);
    if ((row.type & 16) != 0) on.push_back(access::update);
    dependent& made = dependents_[key_of(object_class::trigger, row.oid)];
    made.except = row.function;
    describe_event(made, *owner, on, "the condition of trigger " + shown_name({}, row.name) + " uses",
                   row.columns);
  }
}

void link_builder::describe_operators() {
  kind_ = link_kind::operation;
  for (const operator_row& row : rows_.operators) {
    const object* which = objects_.find(object_kind::operation, row.oid);
    const std::string reason = "operator " + shown(*which) + " calls";
    begin(object_class::operation, row.oid, which->using_it(), reason);
    if (!is_implicit(row.name)) continue;
    for (const object_id operand : {row.left, row.right})
      begin_type(object_class::operation, row.oid, operand, reason);
  }
  kind_ = link_kind::operator_class;
  for (const class_member_row& row : rows_.class_members)
    begin_type(object_class::class_member, row.oid, row.type, "its operator class calls");
}

void link_builder::describe_types() {
  for (const type_row& row : rows_.types) {
    const object* which = objects_.find(object_kind::type, row.oid);
    kind_ = link_kind::type;
    begin_type(object_class::type, row.oid, row.oid, which->what + " " + shown(*which) + " needs");
    if (row.relation == 0) continue;
    begin_type(object_class::relation, row.relation, row.oid, "a column of " + shown(*which) + " is of");
    // A row as a whole is a value of the row type, and nothing in a text shows that it is cast.
    const object* owner = relation(row.relation);
    if (owner == nullptr) continue;
    kind_ = link_kind::row_type;
    for (const access how : all_but_truncate)
      add_link(owner->way(how), which->using_it(), "its rows are of the type " + shown(*which));
  }
  kind_ = link_kind::cast;
  for (const cast_row& row : rows_.casts) {
    const bool from = begin_type(object_class::cast, row.oid, row.source, "a cast from it calls");
    const bool to = begin_type(object_class::cast, row.oid, row.target, "a cast to it calls");
    if (from || to) continue;
    const way_id hidden = ways_.add_ways(1);
    begin(object_class::cast, row.oid, hidden, "calls");
    hidden_casts_.emplace_back(hidden, std::to_string(row.oid));
  }
}

/// A table's own dependencies: the types of its columns, the expressions of its partition key.
void link_builder::describe_relations() {
  std::set<object_id> described;
  kind_ = link_kind::type;
  for (const dependency_row& row : rows_.dependencies) {
    const object* owner = row.of == object_class::relation ? relation(row.object) : nullptr;
    if (owner == nullptr || !described.insert(row.object).second) continue;
    dependent& made = dependents_[key_of(object_class::relation, row.object)];
    describe_event(made, *owner, all_of_a_definition, "the definition of " + shown(*owner) + " uses");
  }
}

/// The columns that a dependency names; null when a whole row is meant or a name is not known.
std::shared_ptr<const column_names> link_builder::names_of_columns(const dependency_row& row) const {
  auto names = std::make_shared<column_names>();
  const auto of_table = [&](const narrowed_column_row& column) { return column.table == row.referenced; };
  if (std::none_of(rows_.narrowed_columns.begin(), rows_.narrowed_columns.end(), of_table)) return nullptr;
  for (const narrowed_column_row& column : rows_.narrowed_columns) {
    if (of_table(column) &&
        std::find(row.columns.begin(), row.columns.end(), column.number) != row.columns.end())
      names->push_back(column.name);
  }
  return names;
}

/// What is done to a view is done to what it shows. For a table whose rule names columns it is known under
/// which names the view shows them; where it shows none of them, nothing of the rule can be assigned.
void link_builder::add_view_base(const dependent& from, const object& base) {
  const bool stored = from.view->what == "materialized view";
  kind_ = stored ? link_kind::materialized_view : link_kind::view;
  for (const access how : all_but_truncate) {
    const access below = stored ? access::read : how;
    const std::string reason = from.view->what + " over " + shown(base);
    if (below != access::read) add_link(from.view->way(how), base.way(access::read), reason);
    if (from.commands.find('L') != std::string::npos)
      add_link(from.view->way(how), base.way(access::lock_for_writing), reason);
    link made;
    made.kind = kind_;
    made.from = from.view->way(how);
    made.to = base.way(below);
    made.reason = reason;
    if (below == access::insert || below == access::update) {
      const auto known = shown_columns_.find(key_of(from.view->oid, base.oid));
      if (known != shown_columns_.end()) made.renamed = known->second;
    }
    put(std::move(made));
  }
}

void link_builder::add_relation_use(const dependent& from, const object& relation,
                                    const dependency_row& row) {
  const auto has = [&](char command) { return from.commands.find(command) != std::string::npos; };
  const auto columns = names_of_columns(row);
  const auto add = [&](access how, const std::shared_ptr<const column_names>& assigned) {
    for (const beginning& each : from.beginnings) {
      link made = each.begun;
      made.to = relation.way(how);
      made.reason += " " + shown(relation);
      made.assigned = assigned;
      put(std::move(made));
    }
  };
  if (from.commands.empty()) return;
  add(access::read, nullptr);
  // What MERGE and ON CONFLICT assign is not among the dependencies.
  if (has('5')) {
    add(access::insert, nullptr);
    add(access::update, nullptr);
    add(access::remove, nullptr);
  }
  if (has('3')) add(access::insert, columns);
  if (has('2')) add(access::update, columns);
  if (has('C')) add(access::update, nullptr);
  if (has('4')) add(access::remove, nullptr);
  if (has('L')) {
    add(access::lock_for_reading, nullptr);
    add(access::lock_for_writing, nullptr);
  }
}

void link_builder::add_dependency(const dependent& from, const dependency_row& row) {
  if (row.on == object_class::relation) {
    const object* used = relation(row.referenced);
    if (used == nullptr) return;
    if (from.view != nullptr) {
      if (used != from.view) add_view_base(from, *used);
    } else {
      add_relation_use(from, *used, row);
    }
    return;
  }
  const object_kind kind = row.on == object_class::function    ? object_kind::function
                           : row.on == object_class::operation ? object_kind::operation
                                                               : object_kind::type;
  const object* used = objects_.find(kind, row.referenced);
  if (used == nullptr) return;
  for (const auto& [begun, makes_values] : from.beginnings) {
    link made = begun;
    made.to = used->using_it();
    made.reason += " " + shown(*used);
    if (kind == object_kind::type && makes_values) {
      link making = made;
      making.to = used->making();
      put(std::move(making));
    }
    put(std::move(made));
  }
}

void link_builder::add_dependencies() {
  describe_rules();
  describe_column_rules();
  describe_checks();
  describe_indexes();
  describe_functions();
  describe_operators();
  describe_types();
  describe_relations();
  for (const dependency_row& row : rows_.dependencies) {
    const auto from = dependents_.find(key_of(row.of, row.object));
    if (from != dependents_.end() && row.referenced != from->second.except) add_dependency(from->second, row);
  }
}

} // namespace ledgergate::catalog
