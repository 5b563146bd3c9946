#include "proxy/catalog/link_builder.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "proxy/sql/touch_rules.hpp"

namespace ledgergate::catalog {

namespace {

using access = sql::closure_access;

constexpr access all_accesses[] = {access::read,     access::lock_for_reading, access::lock_for_writing,
                                   access::insert,   access::update,           access::remove,
                                   access::truncate, access::rebuild,          access::rewrite};

/// tgtype, as pg_trigger.h numbers the events.
struct event_bit {
  int bit;
  access how;
};
constexpr event_bit event_bits[] = {
    {4, access::insert}, {8, access::remove}, {16, access::update}, {32, access::truncate}};

std::string shown(const object& which) { return shown_name(which.schema, which.name); }

bool never_fires(char enabled) { return enabled == 'D'; }

bool shows(const sql::target_accesses& seen, access how) {
  switch (how) {
  case access::read: return true;
  case access::lock_for_reading: return seen.lock_for_reading;
  case access::lock_for_writing: return seen.lock_for_writing;
  case access::insert: return seen.insert;
  case access::update: return seen.update;
  case access::remove: return seen.remove;
  case access::truncate: return seen.truncate;
  case access::rebuild: return seen.rebuild;
  case access::rewrite: return seen.rewrite;
  }
  return true;
}

} // namespace

link_builder::link_builder(const catalog_rows& rows, const config::settings& settings, object_index& objects,
                           graph& ways, const special_ways& special, link_switch kept)
    : rows_(rows), settings_(settings), objects_(objects), ways_(ways), special_(special), kept_(kept) {}

void link_builder::add_all() {
  add_rebuilds();
  add_inheritance();
  add_triggers();
  add_foreign_keys();
  add_event_triggers();
  add_foreign_tables();
  add_functions();
  add_dependencies();
}

void link_builder::add_link(way_id from, way_id to, std::string reason, column_names only_if) {
  link made;
  made.kind = kind_;
  made.from = from;
  made.to = to;
  made.only_if = std::move(only_if);
  made.reason = std::move(reason);
  put(std::move(made));
}

void link_builder::put(link made) {
  if (kept_.keeps(made.kind)) ways_.add(std::move(made));
}

/// Rewriting a table builds its indexes anew, and what names no table may be meant for any.
void link_builder::add_rebuilds() {
  kind_ = link_kind::rebuild;
  for (const relation_row& row : rows_.relations) {
    const object* table = relation(row.oid);
    add_link(table->way(access::rewrite), table->way(access::rebuild), "a rewrite rebuilds its indexes");
    add_link(special_.rebuilds, table->way(access::rebuild), "it may be meant for " + shown(*table));
  }
}

/// What is done to a table is done to those below it. An INSERT goes on to a partition only, and an UPDATE of
/// the partition key may move a row: a DELETE here and an INSERT there.
void link_builder::add_inheritance() {
  std::unordered_map<object_id, const relation_row*> row_of;
  for (const relation_row& row : rows_.relations)
    row_of.emplace(row.oid, &row);
  for (const inheritance_row& row : rows_.inheritance) {
    const object* parent = relation(row.parent);
    const object* child = relation(row.child);
    if (parent == nullptr || child == nullptr) continue;
    const bool is_partition = row_of.at(row.child)->is_partition;
    kind_ = is_partition ? link_kind::partition : link_kind::inheritance;
    const std::string reason =
        std::string(is_partition ? "its partition " : "its inheriting table ") + shown(*child);
    for (const access how : all_accesses) {
      if (how != access::insert || is_partition) add_link(parent->way(how), child->way(how), reason);
    }
    if (!is_partition) continue;
    for (const access moved : {access::insert, access::remove}) {
      add_link(parent->way(access::update), child->way(moved), "rows move between partitions, " + reason,
               row_of.at(row.parent)->partition_key);
    }
  }
}

void link_builder::add_triggers() {
  kind_ = link_kind::trigger;
  for (const trigger_row& row : rows_.triggers) {
    const object* table = relation(row.relation);
    const object* function = objects_.find(object_kind::function, row.function);
    if (table == nullptr || function == nullptr || never_fires(row.enabled)) continue;
    for (const event_bit& event : event_bits) {
      if ((row.type & event.bit) == 0) continue;
      add_link(table->way(event.how), function->using_it(),
               "trigger " + shown_name({}, row.name) + " on " + sql::to_string(event.how) + " calls " +
                   shown(*function),
               event.how == access::update ? row.columns : column_names{});
    }
  }
}

void link_builder::add_foreign_keys() {
  kind_ = link_kind::foreign_key;
  for (const foreign_key_row& row : rows_.foreign_keys) {
    const object* child = relation(row.child);
    const object* parent = relation(row.parent);
    if (child == nullptr || parent == nullptr) continue;
    const std::string key = "foreign key " + shown_name({}, row.name) + " of " + shown(*child);
    const auto columns = std::make_shared<const column_names>(row.child_columns);
    const auto add = [&](access above, access below, const char* action, column_names only_if) {
      link made;
      made.kind = kind_;
      made.from = parent->way(above);
      made.to = child->way(below);
      made.only_if = std::move(only_if);
      if (below == access::update) made.assigned = columns;
      made.reason = key + " ON " + (above == access::remove ? "DELETE " : "UPDATE ") + action;
      put(std::move(made));
    };
    const auto action_name = [](char action) {
      return action == 'c' ? "CASCADE" : action == 'n' ? "SET NULL" : "SET DEFAULT";
    };
    const std::string acting = "cnd";
    if (acting.find(row.on_delete) != std::string::npos) {
      add(access::remove, row.on_delete == 'c' ? access::remove : access::update, action_name(row.on_delete),
          {});
    }
    if (acting.find(row.on_update) != std::string::npos)
      add(access::update, access::update, action_name(row.on_update), row.parent_columns);
    add_link(child->way(access::rewrite), parent->way(access::read), key + " is validated");
    // TRUNCATE .. CASCADE takes the referencing tables along; without CASCADE it fails while there are any.
    add_link(parent->way(access::truncate), child->way(access::truncate), key + ": TRUNCATE CASCADE");
  }
}

void link_builder::add_event_triggers() {
  kind_ = link_kind::event_trigger;
  for (const event_trigger_row& row : rows_.event_triggers) {
    const object* function = objects_.find(object_kind::function, row.function);
    if (function == nullptr || never_fires(row.enabled)) continue;
    add_link(row.event == "login" ? special_.logins : special_.definitions, function->using_it(),
             "event trigger " + shown_name({}, row.name) + " calls " + shown(*function));
  }
}

/// A foreign table may come back to this very server: its options name what it stands for.
void link_builder::add_foreign_tables() {
  kind_ = link_kind::foreign_table;
  for (const relation_row& row : rows_.relations) {
    if (row.foreign_options.empty()) continue;
    const object* table = relation(row.oid);
    function_row options;
    options.body = row.foreign_options;
    for (const body_word& word : read_body(options, {}).words) {
      for (const std::size_t index : objects_.spelled(word.text)) {
        const object& named = objects_.at(index);
        if (named.kind != object_kind::relation || &named == table) continue;
        for (const access how : all_accesses)
          add_link(table->way(how), named.way(how), "its options name " + shown(named));
      }
    }
  }
}

void link_builder::add_functions() {
  for (const function_row& row : rows_.functions) {
    const object* function = objects_.find(object_kind::function, row.oid);
    // Aggregates and standard SQL bodies have dependencies instead of a text.
    if (function == nullptr || row.kind == 'a' || row.atomic_commands) continue;
    const body_facts facts = read_body(row, settings_.gate.pin_before_locks);
    kind_ = row.kind == 'p'   ? link_kind::procedure
            : facts.is_parsed ? link_kind::sql_body
                              : link_kind::word_body;
    if (facts.defines)
      add_link(function->using_it(), special_.definitions, "the body of " + shown(*function) + " may define");
    if (facts.rebuilds_unnamed)
      add_link(function->using_it(), special_.rebuilds, "the body of " + shown(*function) + " may rebuild");
    if (facts.is_parsed) {
      add_parsed_body(*function, facts);
    } else {
      add_word_body(*function, row, facts);
    }
    if (facts.takes_listed_lock) {
      add_link(function->using_it(), special_.listed_lock,
               "its body takes an advisory lock that gate.pin_before_locks names, or may");
    }
    note_doubt(*function, row, facts);
  }
}

void link_builder::add_parsed_body(const object& function, const body_facts& facts) {
  const way_id from = function.using_it();
  const std::string body = "the body of " + shown(function);
  const auto add_names = [&](object_kind kind, const std::string& schema, const std::string& name,
                             const char* verb) {
    for (const object* used : objects_.named(kind, schema, name)) {
      add_link(from, used->using_it(), body + verb + shown(*used));
      if (kind == object_kind::type) add_link(from, used->making(), body + verb + shown(*used));
    }
  };
  for (const sql::statement_facts& statement : facts.statements) {
    for (const sql::relation_access& done : statement.relations) {
      const access how = sql::closure_access_of(done.how);
      for (const object* table : objects_.named(object_kind::relation, done.schema, done.name)) {
        link made;
        made.kind = kind_;
        made.from = from;
        made.to = table->way(how);
        if (!done.all_columns && (how == access::insert || how == access::update))
          made.assigned = std::make_shared<const column_names>(done.columns);
        made.reason = body + (how == access::read ? " reads " : " writes or locks ") + shown(*table);
        put(std::move(made));
      }
    }
    for (const sql::function_call& call : statement.functions) {
      add_names(object_kind::function, call.schema, call.name, " calls ");
      add_names(object_kind::type, call.schema, call.name, " makes the type "); // a cast may look like a call
    }
    for (const sql::object_name& used : statement.operators)
      add_names(object_kind::operation, used.schema, used.name, " uses the operator ");
    for (const sql::object_name& used : statement.types)
      add_names(object_kind::type, used.schema, used.name, " uses the type ");
  }
}

void link_builder::link_mention(const object& function, const object& named, const body_facts& facts,
                                const sql::target_reader& targets,
                                const std::shared_ptr<const column_names>& words, bool called) {
  const std::string reason = "the body of " + shown(function) + " mentions " + shown(named);
  const way_id from = function.using_it();
  if (named.kind == object_kind::relation) {
    const std::optional<sql::target_accesses> seen =
        facts.is_readable ? targets.accesses_to(named.name) : std::nullopt;
    for (const access how : all_accesses) {
      if (!(seen ? shows(*seen, how) : facts.may_do[static_cast<std::size_t>(how)])) continue;
      link made;
      made.kind = kind_;
      made.from = from;
      made.to = named.way(how);
      made.reason = reason;
      if (how == access::update && words != nullptr) {
        made.assigned = words;
        made.assigned_by_word = true;
      }
      put(std::move(made));
    }
    return;
  }
  // A function that is named but not called does nothing, unless the text is a statement in the making.
  if (named.kind == object_kind::function && !called && !facts.is_dynamic && facts.is_readable) return;
  add_link(from, named.using_it(), reason);
  if (named.kind == object_kind::type) add_link(from, named.making(), reason);
}

void link_builder::add_word_body(const object& function, const function_row& row, const body_facts& facts) {
  std::shared_ptr<column_names> words;
  if (!facts.is_dynamic && facts.is_readable) {
    words = std::make_shared<column_names>();
    for (const body_word& word : facts.words)
      words->push_back(word.text);
  }
  const sql::target_reader targets(row.body);
  for (const body_word& word : facts.words) {
    for (const std::size_t index : objects_.spelled(word.text)) {
      const object& named = objects_.at(index);
      if (&named != &function) link_mention(function, named, facts, targets, words, word.called);
    }
  }
  for (const std::size_t index : objects_.odd_names()) {
    const object& named = objects_.at(index);
    if (&named != &function && sql::contains_folded(row.body, named.name))
      link_mention(function, named, facts, targets, words, true);
  }
}

/// What is said of a function whose body does not show everything; it matters only if nothing else gates it.
void link_builder::note_doubt(const object& function, const function_row& row, const body_facts& facts) {
  if (facts.is_parsed) return;
  if (!facts.is_readable) {
    // Extensions bring hundreds of functions in C, which are counted together.
    if (row.extension.empty() || row.language != "c")
      doubtful_.push_back({&function, "is written in " + row.language + ", which is not read"});
  } else if (facts.is_dynamic) {
    doubtful_.push_back({&function, "runs SQL that is put together at run time"});
  }
}

} // namespace ledgergate::catalog
