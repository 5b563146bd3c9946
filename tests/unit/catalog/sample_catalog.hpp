// Hand-made rows of the system catalogs, and the closure over them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/catalog/closure.hpp"

namespace ledgergate::test {

using catalog::object_class;
using catalog::object_id;
using sql::closure_access;
using sql::touch_kind;

inline config::settings horde_settings() {
  config::settings settings;
  settings.gate.tables = {{"", "ledger", config::pin_on::any, {}},
                          {"", "balances", config::pin_on::lock, {}},
                          {"", "users", config::pin_on::write, {"kudos"}}};
  settings.gate.functions = {"post_credit"};
  settings.gate.pin_before_locks = {77};
  settings.control_row.table = "mode_control";
  return settings;
}

/// OIDs are given out in order. The configured tables are there already.
class sample_catalog {
 public:
  sample_catalog() {
    ledger = table("ledger");
    balances = table("balances");
    users = table("users");
    control = table("mode_control");
    rows.narrowed_columns = {{users, 1, "id"}, {users, 2, "kudos"}, {users, 3, "bio"}};
  }

  object_id table(const std::string& name, char kind = 'r') {
    rows.relations.push_back({++last_, "app", name, kind, true, false, {}, {}});
    return last_;
  }
  object_id partition_of(object_id parent, const std::string& name) {
    const object_id child = table(name);
    rows.relations.back().is_partition = true;
    rows.inheritance.push_back({child, parent});
    return child;
  }
  object_id view(const std::string& name, const std::vector<object_id>& over, char kind = 'v') {
    const object_id made = table(name, kind);
    rows.rules.push_back({++last_, made, "_RETURN", '1', 'O', "1"});
    const object_id rule = last_;
    for (const object_id base : over)
      depends(object_class::rule, rule, object_class::relation, base);
    return made;
  }
  object_id function(const std::string& name, const std::string& body,
                     const std::string& language = "plpgsql") {
    rows.functions.push_back({++last_, "app", name, 'f', language, {}, body, std::nullopt});
    return last_;
  }
  void trigger(object_id on, object_id calls, int events, std::vector<std::string> columns = {},
               char enabled = 'O') {
    rows.triggers.push_back({++last_, on, "t", calls, events, enabled, std::move(columns)});
  }
  void depends(object_class of, object_id object, object_class on, object_id referenced,
               std::vector<int> columns = {}) {
    rows.dependencies.push_back({of, object, on, referenced, std::move(columns)});
  }
  object_id next_oid() { return ++last_; }

  catalog::catalog_report closure() const { return catalog::make_closure(rows, horde_settings()); }

  catalog::catalog_rows rows;
  object_id ledger, balances, users, control;

 private:
  object_id last_ = 16383;
};

/// What each access of a relation is that statements for data have, in the order of closure_access: r s l i u
/// d t, upper case for a transition, `-` where it does not touch. Nothing for a relation that is not gated.
inline std::string accesses_of(const catalog::catalog_report& report, const std::string& name) {
  for (const auto& relation : report.closure->relations) {
    if (relation.name != name) continue;
    std::string text = "rsliudt";
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (relation.on[i].touch == touch_kind::none) text[i] = '-';
      if (relation.on[i].touch == touch_kind::transition) text[i] = static_cast<char>(text[i] - 0x20);
    }
    return text;
  }
  return {};
}

inline touch_kind access_of(const catalog::catalog_report& report, const std::string& name,
                            closure_access how) {
  for (const auto& relation : report.closure->relations) {
    if (relation.name == name) return relation.on[static_cast<std::size_t>(how)].touch;
  }
  return touch_kind::none;
}

inline std::vector<std::string> columns_of(const catalog::catalog_report& report, const std::string& name,
                                           closure_access how) {
  for (const auto& relation : report.closure->relations) {
    if (relation.name == name) return relation.on[static_cast<std::size_t>(how)].columns;
  }
  return {};
}

inline touch_kind touch_of(const std::vector<sql::closure_name>& names, const std::string& name) {
  for (const auto& each : names) {
    if (each.name == name) return each.touch;
  }
  return touch_kind::none;
}
inline touch_kind call_of(const catalog::catalog_report& report, const std::string& name) {
  return touch_of(report.closure->functions, name);
}

inline constexpr int on_insert = 4, on_delete = 8, on_update = 16, on_truncate = 32;

} // namespace ledgergate::test
