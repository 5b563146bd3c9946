// From the rows of the system catalogs and the configured names to the closure: everything that leads to the
// ledger, why, and what could not be looked into. A pure function.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/catalog/link_kind.hpp"
#include "proxy/catalog/rows.hpp"
#include "proxy/sql/catalog_closure.hpp"

namespace ledgergate::catalog {

/// Some ways of reaching one object, alike in kind, columns and reason.
struct gated_access {
  std::vector<std::string> accesses; ///< `read`, `row_lock`, `insert`, .., `call`, `use`
  sql::touch_kind touch = sql::touch_kind::touch;
  std::vector<std::string> columns; ///< only when one of these is assigned; empty: always
  std::vector<std::string> why;     ///< from the object itself down to the configured name
  bool configured = false;
};

/// An object that leads to the ledger.
struct gated_object {
  std::string kind; ///< table, view, materialized view, foreign table, function, procedure, aggregate, ..
  std::string schema;
  std::string name;
  object_id oid = 0; ///< 0: configured, and not in the database
  std::vector<gated_access> accesses;
};

/// Something that may lead to the ledger without anybody seeing it.
struct unseen_object {
  std::string kind;
  std::string schema;
  std::string name;
  std::string why; ///< a phrase: "runs SQL put together at run time"
};

struct catalog_report {
  std::shared_ptr<const sql::catalog_closure> closure; ///< never null
  std::vector<gated_object> gated;                     ///< configured ones first, then by kind and name
  std::vector<unseen_object> unseen;
};

catalog_report make_closure(const catalog_rows& rows, const config::settings& settings,
                            link_switch kept = {});

/// Before the catalogs were read, or when they are not to be: as gate.catalog says.
std::shared_ptr<const sql::catalog_closure> initial_closure(const config::settings& settings);

/// `"schema".name` as it is shown in reasons: quoted only where needed.
std::string shown_name(const std::string& schema, const std::string& name);

} // namespace ledgergate::catalog
