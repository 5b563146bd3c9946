#include "proxy/sql/tree_reader.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "proxy/sql/row_locks.hpp"
#include "proxy/sql/tree_constant.hpp"
#include "proxy/sql/tree_control.hpp"
#include "proxy/sql/tree_definition.hpp"
#include "proxy/sql/tree_node.hpp"
#include "proxy/sql/tree_statement.hpp"

namespace ledgergate::sql {

namespace {

/// The assigned columns of a target list.
std::vector<std::string> target_names(const json::array* targets) {
  std::vector<std::string> names;
  if (targets == nullptr) return names;
  for (const json::value& target : *targets) {
    if (const json::object* node = node_of(target, "ResTarget")) names.emplace_back(text_of(*node, "name"));
  }
  return names;
}

class tree_reader {
 public:
  explicit tree_reader(std::string_view text) : text_(text) {}
  statement_facts read(const json::value& statement);

 private:
  using handler = void (tree_reader::*)(const json::object&);
  struct entry {
    std::string_view name;
    handler handle;
  };
  /// Work to do: `handle(*node)`, or, without a handler, everything inside `value`.
  struct frame {
    const json::value* value;
    const json::object* node;
    handler handle;
  };
  static handler find_handler(std::string_view node);

  void definition(std::string_view name, const json::object& body);
  void drain();
  void visit(const json::value& value);
  void visit_object(const json::object& object);
  void push(const json::value& value) { pending_.push_back({&value, nullptr, nullptr}); }
  void push_fields(const json::object& node, std::initializer_list<std::string_view> except = {});

  relation_access& note(const json::object& relation, access_kind how);
  void note_each(const json::array* relations, access_kind how);
  void note_insert(const json::object& relation, const json::array* columns);
  void note_update(const json::object& relation, const json::array* targets);

  void control(const json::object& node);
  void variable_set(const json::object& node);
  void range_var(const json::object& node);
  void select(const json::object& node);
  void insert(const json::object& node);
  void update(const json::object& node);
  void remove(const json::object& node);
  void merge(const json::object& node);
  void copy(const json::object& node);
  void truncate(const json::object& node);
  void lock_table(const json::object& node);
  void create_as(const json::object& node);
  void refresh(const json::object& node);
  void explain(const json::object& node);
  void prepare(const json::object& node);
  void execute(const json::object& node);
  void deallocate(const json::object& node);
  void discard(const json::object& node);
  void do_block(const json::object& node);
  void call(const json::object& node);
  void function(const json::object& node);
  void column_reference(const json::object& node);
  void indirection(const json::object& node);
  void parameter(const json::object& node);
  void expression(const json::object& node);
  void sort(const json::object& node);
  void sub_link(const json::object& node);
  void note_name(std::vector<object_name>& target, const json::array* parts);
  void attribute_calls(const json::array* fields, std::size_t first);

  std::string_view text_;
  statement_facts facts_;
  bool only_planned_ = false;  ///< EXPLAIN: planning calls functions, but no relation is looked at
  std::vector<frame> pending_; ///< instead of recursion: how deep a tree is, is the client's choice
};

tree_reader::handler tree_reader::find_handler(std::string_view node) {
  static constexpr std::array<entry, 27> handlers = {{
      {"A_Expr", &tree_reader::expression},
      {"A_Indirection", &tree_reader::indirection},
      {"CallStmt", &tree_reader::call},
      {"ColumnRef", &tree_reader::column_reference},
      {"CopyStmt", &tree_reader::copy},
      {"CreateTableAsStmt", &tree_reader::create_as},
      {"DeallocateStmt", &tree_reader::deallocate},
      {"DeleteStmt", &tree_reader::remove},
      {"DiscardStmt", &tree_reader::discard},
      {"DoStmt", &tree_reader::do_block},
      {"ExecuteStmt", &tree_reader::execute},
      {"ExplainStmt", &tree_reader::explain},
      {"FuncCall", &tree_reader::function},
      {"InsertStmt", &tree_reader::insert},
      {"LockStmt", &tree_reader::lock_table},
      {"MergeStmt", &tree_reader::merge},
      {"ParamRef", &tree_reader::parameter},
      {"PrepareStmt", &tree_reader::prepare},
      {"RangeVar", &tree_reader::range_var},
      {"RefreshMatViewStmt", &tree_reader::refresh},
      {"SelectStmt", &tree_reader::select},
      {"SortBy", &tree_reader::sort},
      {"SubLink", &tree_reader::sub_link},
      {"TransactionStmt", &tree_reader::control},
      {"TruncateStmt", &tree_reader::truncate},
      {"UpdateStmt", &tree_reader::update},
      {"VariableSetStmt", &tree_reader::variable_set},
  }};
  static_assert(std::is_sorted(handlers.begin(), handlers.end(),
                               [](const entry& a, const entry& b) { return a.name < b.name; }));
  const auto found = std::lower_bound(handlers.begin(), handlers.end(), node,
                                      [](const entry& a, std::string_view b) { return a.name < b; });
  return found != handlers.end() && found->name == node ? found->handle : nullptr;
}

statement_facts tree_reader::read(const json::value& statement) {
  const json::object* wrapper = statement.if_object();
  if (wrapper == nullptr || wrapper->empty()) return {};
  const std::string_view name = wrapper->begin()->key();
  facts_.defines = defines_a_way(name, *wrapper);
  facts_.is_definition = is_definition_statement(name);
  facts_.is_inert = is_inert_statement(name);
  if (facts_.is_inert) {
    if (const json::object* body = object_of(*wrapper, name)) definition(name, *body);
    return std::move(facts_);
  }
  static constexpr std::array<std::string_view, 5> dml = {"SelectStmt", "InsertStmt", "UpdateStmt",
                                                          "DeleteStmt", "MergeStmt"};
  if (std::find(dml.begin(), dml.end(), name) != dml.end()) facts_.kind = statement_kind::plain_dml;
  push(statement);
  drain();
  if (only_planned_) facts_.relations.clear();
  return std::move(facts_);
}

/// DDL and maintenance: what they run at once.
void tree_reader::definition(std::string_view name, const json::object& body) {
  facts_.defines_unseen = defines_unseen(name, body);
  const executed_parts parts = executed_by(name, body);
  if (!parts.any()) return;
  facts_.is_inert = false;
  facts_.rebuilds_unnamed = parts.rebuilds_unnamed;
  for (const executed_parts::relation& each : parts.relations) {
    relation_access& access = note(*each.node, each.how);
    if (!each.column.empty()) access.columns.emplace_back(each.column);
  }
  for (const json::value* each : parts.expressions)
    push(*each);
  drain();
  note_name(facts_.types, parts.type);
}

void tree_reader::drain() {
  while (!pending_.empty()) {
    const frame next = pending_.back();
    pending_.pop_back();
    if (next.handle != nullptr) {
      (this->*next.handle)(*next.node);
    } else {
      visit(*next.value);
    }
  }
}

void tree_reader::visit(const json::value& value) {
  if (const json::array* items = value.if_array()) {
    for (const json::value& item : *items) {
      if (item.is_structured()) push(item);
    }
  } else if (const json::object* object = value.if_object()) {
    visit_object(*object);
  }
}

void tree_reader::visit_object(const json::object& object) {
  // A relation in a typed field that no handler claimed: whatever the statement does with it, it counts as
  // read.
  if (object.contains("relname") && object.contains("relpersistence")) return range_var(object);
  if (object.contains("names") && object.contains("typemod"))
    note_name(facts_.types, array_of(object, "names"));
  push_fields(object);
}

void tree_reader::push_fields(const json::object& node, std::initializer_list<std::string_view> except) {
  for (const auto& [key, value] : node) {
    if (!value.is_structured()) continue;
    const std::string_view name = key;
    if (std::find(except.begin(), except.end(), name) != except.end()) continue;
    const json::object* fields = value.if_object();
    const handler handle = fields != nullptr && name.front() <= 'Z' ? find_handler(name) : nullptr;
    pending_.push_back({&value, fields, handle});
  }
}

relation_access& tree_reader::note(const json::object& relation, access_kind how) {
  relation_access& access = facts_.relations.emplace_back();
  access.schema = text_of(relation, "schemaname");
  access.name = text_of(relation, "relname");
  access.how = how;
  return access;
}

void tree_reader::note_each(const json::array* relations, access_kind how) {
  if (relations == nullptr) return;
  for (const json::value& relation : *relations) {
    if (const json::object* node = node_of(relation, "RangeVar")) note(*node, how);
  }
}

void tree_reader::note_insert(const json::object& relation, const json::array* columns) {
  relation_access& access = note(relation, access_kind::insert);
  access.all_columns = columns == nullptr || columns->empty();
  access.columns = target_names(columns);
}

void tree_reader::note_update(const json::object& relation, const json::array* targets) {
  note(relation, access_kind::update).columns = target_names(targets);
}

void tree_reader::range_var(const json::object& node) { note(node, access_kind::read); }

void tree_reader::insert(const json::object& node) {
  if (const json::object* relation = object_of(node, "relation")) {
    note_insert(*relation, array_of(node, "cols"));
    const json::object* conflict = object_of(node, "onConflictClause");
    if (conflict != nullptr && text_of(*conflict, "action") == "ONCONFLICT_UPDATE") {
      note_update(*relation, array_of(*conflict, "targetList"));
    }
  }
  push_fields(node, {"relation"});
}

void tree_reader::update(const json::object& node) {
  if (const json::object* relation = object_of(node, "relation"))
    note_update(*relation, array_of(node, "targetList"));
  push_fields(node, {"relation"});
}

void tree_reader::remove(const json::object& node) {
  if (const json::object* relation = object_of(node, "relation")) note(*relation, access_kind::remove);
  push_fields(node, {"relation"});
}

void tree_reader::merge(const json::object& node) {
  const json::object* relation = object_of(node, "relation");
  const json::array* clauses = array_of(node, "mergeWhenClauses");
  if (relation != nullptr) {
    note(*relation, access_kind::read);
    for (std::size_t i = 0; clauses != nullptr && i < clauses->size(); ++i) {
      const json::object* clause = node_of((*clauses)[i], "MergeWhenClause");
      if (clause == nullptr) continue;
      const std::string_view command = text_of(*clause, "commandType");
      if (command == "CMD_INSERT") note_insert(*relation, array_of(*clause, "targetList"));
      if (command == "CMD_UPDATE") note_update(*relation, array_of(*clause, "targetList"));
      if (command == "CMD_DELETE") note(*relation, access_kind::remove);
    }
  }
  push_fields(node, {"relation"});
}

void tree_reader::copy(const json::object& node) {
  if (const json::object* relation = object_of(node, "relation")) {
    relation_access& access =
        note(*relation, flag_of(node, "is_from") ? access_kind::insert : access_kind::read);
    const json::array* columns = array_of(node, "attlist");
    access.all_columns = columns == nullptr;
    for (std::size_t i = 0; columns != nullptr && i < columns->size(); ++i) {
      access.columns.emplace_back(string_node((*columns)[i]));
    }
  }
  push_fields(node, {"relation", "attlist", "options"});
}

void tree_reader::truncate(const json::object& node) {
  note_each(array_of(node, "relations"), access_kind::truncate);
}

// Lock modes as the server numbers them: 1 ACCESS SHARE, 2 ROW SHARE, 5 SHARE; the others are those of
// writers.
void tree_reader::lock_table(const json::object& node) {
  const json::value* mode = node.if_contains("mode");
  const std::int64_t number = mode != nullptr && mode->is_int64() ? mode->get_int64() : 8;
  const bool reading = number == 1 || number == 2 || number == 5;
  note_each(array_of(node, "relations"),
            reading ? access_kind::lock_table_for_reading : access_kind::lock_table_for_writing);
}

void tree_reader::select(const json::object& node) {
  if (node.contains("intoClause")) {
    // SELECT INTO is a utility: the new table is not touched, what it is made from is.
    if (facts_.kind == statement_kind::plain_dml) facts_.kind = statement_kind::other;
    facts_.is_definition = true;
    facts_.defines_by_query = true;
  }
  for (const auto& [relation, how] : locked_relations(node))
    note(*relation, how);
  for (const std::string_view side : {"larg", "rarg"}) {
    if (const json::object* operand = object_of(node, side))
      pending_.push_back({nullptr, operand, &tree_reader::select});
  }
  push_fields(node, {"intoClause", "lockingClause", "larg", "rarg"});
}

void tree_reader::create_as(const json::object& node) {
  facts_.is_definition = true;
  facts_.defines_by_query = true;
  push_fields(node, {"into"});
}

void tree_reader::refresh(const json::object& node) {
  if (const json::object* relation = object_of(node, "relation")) note_insert(*relation, nullptr);
}

// A plain EXPLAIN reads no relation, but planning evaluates functions that are not volatile. Options may be
// repeated and the last one wins; any ANALYZE that is not switched off counts.
void tree_reader::explain(const json::object& node) {
  const json::array* options = array_of(node, "options");
  bool runs = false;
  for (std::size_t i = 0; options != nullptr && i < options->size(); ++i) {
    const json::object* option = node_of((*options)[i], "DefElem");
    if (option == nullptr || text_of(*option, "defname") != "analyze") continue;
    const json::value* value = option->if_contains("arg");
    const std::string_view word = value != nullptr ? string_node(*value) : std::string_view{};
    const json::object* number = value != nullptr ? node_of(*value, "Integer") : nullptr;
    const bool zero = number != nullptr && !number->contains("ival");
    runs = runs || !(word == "off" || word == "false" || zero);
  }
  only_planned_ = !runs;
  push_fields(node, {"options"});
}

void tree_reader::prepare(const json::object& node) {
  facts_.kind = statement_kind::prepare;
  facts_.prepares = text_of(node, "name");
  push_fields(node, {"argtypes"});
}

void tree_reader::execute(const json::object& node) {
  facts_.executes = text_of(node, "name");
  push_fields(node);
}

void tree_reader::deallocate(const json::object& node) {
  facts_.is_inert = true;
  facts_.deallocates = text_of(node, "name");
  facts_.deallocates_all = facts_.deallocates.empty();
}

void tree_reader::discard(const json::object& node) {
  facts_.is_inert = true;
  facts_.discards_all = text_of(node, "target") == "DISCARD_ALL";
}

void tree_reader::do_block(const json::object& node) {
  facts_.kind = statement_kind::do_block;
  const json::array* arguments = array_of(node, "args");
  for (std::size_t i = 0; arguments != nullptr && i < arguments->size(); ++i) {
    const json::object* argument = node_of((*arguments)[i], "DefElem");
    const json::value* value = argument != nullptr ? argument->if_contains("arg") : nullptr;
    if (value != nullptr && text_of(*argument, "defname") == "as") facts_.do_body += string_node(*value);
  }
}

void tree_reader::call(const json::object& node) {
  facts_.kind = statement_kind::call;
  if (const json::object* procedure = object_of(node, "funccall")) function(*procedure);
}

void tree_reader::function(const json::object& node) {
  function_call& called = facts_.functions.emplace_back();
  if (const json::array* name = array_of(node, "funcname"); name != nullptr && !name->empty()) {
    called.name = string_node(name->back());
    if (name->size() > 1) called.schema = string_node((*name)[name->size() - 2]);
  }
  if (const json::array* arguments = array_of(node, "args")) {
    called.argument_count = arguments->size();
    for (std::size_t i = 0; i < arguments->size(); ++i) {
      const json::object* constant = constant_of((*arguments)[i]);
      called.has_computed_text = called.has_computed_text || constant == nullptr;
      if (constant == nullptr) continue;
      if (i == 0) called.first_integer = integer_of(*constant, text_);
      if (const json::object* text = object_of(*constant, "sval"))
        called.text_arguments.emplace_back(text_of(*text, "sval"));
    }
  }
  push_fields(node, {"funcname"});
}

// `(row).name` and `alias.name` call the function `name` when the row has no such column.
void tree_reader::attribute_calls(const json::array* fields, std::size_t first) {
  for (std::size_t i = first; fields != nullptr && i < fields->size(); ++i) {
    const std::string_view name = string_node((*fields)[i]);
    if (name.empty()) continue;
    function_call& called = facts_.functions.emplace_back();
    called.name = name;
    called.argument_count = 1;
  }
}

void tree_reader::column_reference(const json::object& node) { attribute_calls(array_of(node, "fields"), 1); }

void tree_reader::indirection(const json::object& node) {
  attribute_calls(array_of(node, "indirection"), 0);
  push_fields(node);
}

void tree_reader::parameter(const json::object&) { facts_.uses_parameters = true; }

void tree_reader::note_name(std::vector<object_name>& target, const json::array* parts) {
  if (parts == nullptr || parts->empty()) return;
  object_name& used = target.emplace_back();
  used.name = string_node(parts->back());
  if (parts->size() > 1) used.schema = string_node((*parts)[parts->size() - 2]);
}

void tree_reader::expression(const json::object& node) {
  note_name(facts_.operators, array_of(node, "name"));
  push_fields(node, {"name"});
}

void tree_reader::sort(const json::object& node) {
  note_name(facts_.operators, array_of(node, "useOp"));
  push_fields(node, {"useOp"});
}

void tree_reader::sub_link(const json::object& node) {
  note_name(facts_.operators, array_of(node, "operName"));
  push_fields(node, {"operName"});
}

void tree_reader::control(const json::object& node) {
  facts_.kind = statement_kind::control;
  facts_.control = control_of_transaction(node);
}

void tree_reader::variable_set(const json::object& node) {
  facts_.is_inert = true;
  facts_.control = control_of_setting(node);
  if (facts_.control != control_kind::none) facts_.kind = statement_kind::control;
}

} // namespace

statement_facts read_statement(const json::value& statement, std::string_view text) {
  return tree_reader(text).read(statement);
}

} // namespace ledgergate::sql
