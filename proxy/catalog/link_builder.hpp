// From rows to links: for every kind of row, what doing something sets in motion.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/settings.hpp"
#include "proxy/catalog/body_reader.hpp"
#include "proxy/catalog/closure.hpp"
#include "proxy/catalog/object_index.hpp"
#include "proxy/sql/write_targets.hpp"

namespace ledgergate::catalog {

/// Ways that belong to no object.
struct special_ways {
  way_id definitions = 0; ///< any DDL statement
  way_id logins = 0;      ///< a session's start, which cannot be pinned
  way_id listed_lock = 0; ///< taking an advisory lock of gate.pin_before_locks
  way_id rebuilds = 0;    ///< VACUUM, ANALYZE, REINDEX INDEX, .. of tables that are not named
};

/// A function whose body does not say all that it does.
struct doubtful_function {
  const object* which = nullptr;
  std::string why;
};

class link_builder {
 public:
  link_builder(const catalog_rows& rows, const config::settings& settings, object_index& objects, graph& ways,
               const special_ways& special, link_switch kept = {});

  void add_all();
  const std::vector<doubtful_function>& doubtful() const { return doubtful_; }
  /// Casts between built-in types: nothing in a text shows them.
  const std::vector<std::pair<way_id, std::string>>& hidden_casts() const { return hidden_casts_; }

 private:
  using accesses = std::vector<sql::closure_access>;
  /// What an object of pg_depend stands for: doing any of these needs what it depends on.
  struct beginning {
    link begun;               ///< `from`, `only_if`, `reason` are set
    bool makes_values = true; ///< of the types it depends on; otherwise it only uses them
  };
  struct dependent {
    std::vector<beginning> beginnings;
    std::string commands; ///< what is done to a relation it depends on; see rows.hpp
    const object* view = nullptr;
    object_id except = 0; ///< linked already
  };

  // link_builder.cpp
  void add_rebuilds();
  void add_inheritance();
  void add_triggers();
  void add_foreign_keys();
  void add_event_triggers();
  void add_foreign_tables();
  void add_functions();
  void add_parsed_body(const object& function, const body_facts& facts);
  void add_word_body(const object& function, const function_row& row, const body_facts& facts);
  void note_doubt(const object& function, const function_row& row, const body_facts& facts);
  void link_mention(const object& function, const object& named, const body_facts& facts,
                    const sql::target_reader& targets, const std::shared_ptr<const column_names>& words,
                    bool called);

  // dependency_links.cpp
  void add_dependencies();
  void describe_rules();
  void describe_column_rules();
  void describe_checks();
  void describe_indexes();
  void describe_functions();
  void describe_operators();
  void describe_types();
  void describe_relations();
  dependent& begin(object_class of, object_id oid, way_id from, std::string reason, bool makes_values = true);
  bool begin_type(object_class of, object_id oid, object_id type, const std::string& reason);
  void describe_event(dependent& target, const object& relation, const accesses& on, std::string reason,
                      column_names only_if = {});
  void add_dependency(const dependent& from, const dependency_row& row);
  void add_view_base(const dependent& from, const object& base);
  void add_relation_use(const dependent& from, const object& relation, const dependency_row& row);
  std::shared_ptr<const column_names> names_of_columns(const dependency_row& row) const;

  void add_link(way_id from, way_id to, std::string reason, column_names only_if = {});
  void put(link made);
  const object* relation(object_id oid) const { return objects_.find(object_kind::relation, oid); }

  const catalog_rows& rows_;
  const config::settings& settings_;
  object_index& objects_;
  graph& ways_;
  const special_ways special_;
  const link_switch kept_;
  link_kind kind_ = link_kind::view;                        ///< of the links that are being made
  std::unordered_map<std::uint64_t, dependent> dependents_; ///< by class and OID
  std::unordered_map<std::uint64_t, std::shared_ptr<column_map>> shown_columns_; ///< by view and table
  std::vector<doubtful_function> doubtful_;
  std::vector<std::pair<way_id, std::string>> hidden_casts_;
};

} // namespace ledgergate::catalog
