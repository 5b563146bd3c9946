#include "proxy/control/catalog_text.hpp"

#include "proxy/sql/touch_rules.hpp"
#include "proxy/transition/sql_text.hpp"

namespace ledgergate::control {

namespace {

/// A hostile search_path must not redirect anything. READ ONLY also says that nobody is to be kept waiting.
constexpr const char* begin_text = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                                   "SET LOCAL search_path = pg_catalog, pg_temp; ";

/// A row's xmin changes with every change of the row.
std::string part(const char* table, const char* key = "oid::int8", const std::string& condition = "true") {
  return std::string("SELECT concat(count(*), ':', "
                     "bit_xor(hashtextextended(xmin::text, ") +
         key + "))) AS p FROM " + table + " WHERE " + condition;
}

constexpr const char* names_of = "(SELECT array_to_string(array_agg(a.attname ORDER BY a.attnum), chr(1)) "
                                 "FROM pg_attribute a WHERE a.attrelid = ";

/// What stands in a stored query, from the server's own notation of it.
std::string commands_of(const std::string& tree) {
  return "(SELECT coalesce(string_agg(DISTINCT CASE m[2] WHEN 'ROWMARKCLAUSE' THEN 'L' WHEN "
         "'ONCONFLICTEXPR' THEN 'C' ELSE m[1] END, ''), '') FROM regexp_matches(" +
         tree + ", ':commandType ([0-9])|[{](ROWMARKCLAUSE|ONCONFLICTEXPR)', 'g') m)";
}

constexpr const char* relations =
    "SELECT c.oid, n.nspname, c.relname, c.relkind, c.relrowsecurity, c.relispartition, "
    "CASE WHEN c.relkind = 'p' THEN (SELECT array_to_string(array_agg(a.attname), chr(1)) "
    "FROM pg_partitioned_table p, unnest(p.partattrs::int2[]) k LEFT JOIN pg_attribute a "
    "ON a.attrelid = c.oid AND a.attnum = k WHERE p.partrelid = c.oid HAVING bool_and(k <> 0)) END, "
    "CASE WHEN c.relkind = 'f' THEN (SELECT array_to_string(f.ftoptions, ' ') FROM pg_foreign_table f "
    "WHERE f.ftrelid = c.oid) END "
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f'); ";

std::string functions() {
  return "SELECT p.oid, n.nspname, p.proname, p.prokind, l.lanname, e.extname, p.prosrc, "
         "CASE WHEN p.prosqlbody IS NOT NULL THEN " +
         commands_of("p.prosqlbody::text") +
         " END FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
         "JOIN pg_language l ON l.oid = p.prolang "
         "LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' "
         "LEFT JOIN pg_extension e ON e.oid = d.refobjid WHERE p.oid >= 16384; ";
}

/// A trigger for a generated column fires when what that is made from is assigned: then any column counts.
constexpr const char* triggers =
    "SELECT t.oid, t.tgrelid, t.tgname, t.tgfoid, t.tgtype, t.tgenabled, "
    "CASE WHEN array_length(t.tgattr::int2[], 1) > 0 THEN "
    "(SELECT array_to_string(array_agg(a.attname), chr(1)) FROM pg_attribute a "
    "WHERE a.attrelid = t.tgrelid AND a.attnum = ANY (t.tgattr::int2[]) "
    "HAVING bool_and(a.attgenerated = '')) END FROM pg_trigger t WHERE NOT t.tgisinternal; ";

std::string foreign_keys() {
  return std::string("SELECT k.conname, k.conrelid, k.confrelid, k.confdeltype, k.confupdtype, ") + names_of +
         "k.conrelid AND a.attnum = ANY (k.conkey)), " + names_of +
         "k.confrelid AND a.attnum = ANY (k.confkey)) FROM pg_constraint k WHERE k.contype = 'f'; ";
}

constexpr const char* inheritance = "SELECT inhrelid, inhparent FROM pg_inherits; ";

std::string rules() {
  // The row locks of views are all that matters of their commands, and cheaper to find.
  return "SELECT r.oid, r.ev_class, r.rulename, r.ev_type, r.ev_enabled, CASE WHEN r.ev_type = '1' THEN "
         "CASE WHEN r.ev_action::text LIKE '%ROWMARKCLAUSE%' THEN '1L' ELSE '1' END ELSE " +
         commands_of("r.ev_action::text") + " END FROM pg_rewrite r WHERE r.oid >= 16384; ";
}

constexpr const char* column_rules =
    "SELECT d.oid, d.adrelid, a.attname, a.attgenerated FROM pg_attrdef d "
    "JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE EXISTS (SELECT FROM "
    "pg_depend e "
    "WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid AND e.refobjid >= 16384 AND e.refclassid "
    "IN "
    "('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)); "
    "SELECT k.oid, k.conrelid, k.contypid, k.conname FROM pg_constraint k WHERE k.contype = 'c' AND "
    "EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_constraint'::regclass AND e.objid = k.oid AND "
    "e.refobjid >= 16384 AND e.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, "
    "'pg_type'::regclass)); ";

std::string policies() {
  return "SELECT p.oid, p.polrelid, p.polname, p.polcmd, '1' || " +
         commands_of("concat(p.polqual::text, p.polwithcheck::text)") +
         " FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE c.relrowsecurity; ";
}

constexpr const char* others =
    "SELECT i.indexrelid, i.indrelid, c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
    "WHERE i.indexrelid >= 16384 AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL); "
    "SELECT s.oid, s.stxrelid, s.stxname FROM pg_statistic_ext s WHERE s.stxexprs IS NOT NULL; "
    "SELECT o.oid, n.nspname, o.oprname, o.oprleft, o.oprright FROM pg_operator o "
    "JOIN pg_namespace n ON n.oid = o.oprnamespace WHERE o.oid >= 16384; "
    "SELECT t.oid, n.nspname, t.typname, t.typtype, t.typrelid FROM pg_type t "
    "JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid >= 16384 AND t.typtype <> 'p'; "
    "SELECT oid, castsource, casttarget FROM pg_cast WHERE oid >= 16384; "
    "SELECT oid, amproclefttype FROM pg_amproc WHERE oid >= 16384 "
    "UNION ALL SELECT oid, amproclefttype FROM (SELECT oid, amoplefttype AS amproclefttype FROM pg_amop "
    "WHERE oid >= 16384) o; "
    "SELECT evtname, evtevent, evtfoid, evtenabled FROM pg_event_trigger; ";

/// What depends on what, as far as something can be set in motion by it: functions, operators and types that
/// are used, and the relations that views, rules, policies and standard SQL bodies name.
constexpr const char* dependencies =
    "SELECT CASE d.classid WHEN 'pg_class'::regclass THEN 'c' WHEN 'pg_proc'::regclass THEN 'f' "
    "WHEN 'pg_rewrite'::regclass THEN 'r' WHEN 'pg_attrdef'::regclass THEN 'd' "
    "WHEN 'pg_constraint'::regclass THEN 'k' WHEN 'pg_policy'::regclass THEN 'p' "
    "WHEN 'pg_trigger'::regclass THEN 't' WHEN 'pg_operator'::regclass THEN 'o' "
    "WHEN 'pg_type'::regclass THEN 'y' WHEN 'pg_cast'::regclass THEN 'x' "
    "WHEN 'pg_statistic_ext'::regclass THEN 's' ELSE 'm' END, d.objid, "
    "CASE d.refclassid WHEN 'pg_class'::regclass THEN 'c' WHEN 'pg_proc'::regclass THEN 'f' "
    "WHEN 'pg_operator'::regclass THEN 'o' ELSE 'y' END, d.refobjid, "
    "CASE WHEN d.refclassid = 'pg_class'::regclass THEN array_to_string(array_agg(d.refobjsubid), chr(1)) "
    "END "
    "FROM pg_depend d WHERE d.refobjid >= 16384 AND (d.refclassid IN ('pg_proc'::regclass, "
    "'pg_operator'::regclass, 'pg_type'::regclass) AND d.classid IN ('pg_class'::regclass, "
    "'pg_proc'::regclass, 'pg_rewrite'::regclass, 'pg_attrdef'::regclass, 'pg_constraint'::regclass, "
    "'pg_policy'::regclass, 'pg_trigger'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass, "
    "'pg_cast'::regclass, 'pg_statistic_ext'::regclass, 'pg_amproc'::regclass, 'pg_amop'::regclass) "
    "OR d.refclassid = 'pg_class'::regclass AND d.deptype = 'n' AND d.classid IN "
    "('pg_rewrite'::regclass, 'pg_proc'::regclass, 'pg_policy'::regclass)) "
    "GROUP BY d.classid, d.objid, d.refclassid, d.refobjid; ";

/// The tables whose rule names columns.
std::string narrowed_tables(const config::settings& settings) {
  std::string condition = "false";
  for (const config::table_rule& rule : settings.gate.tables) {
    if (rule.columns.empty()) continue;
    condition += " OR (c.relname = " + transition::quote_literal(rule.name);
    if (!rule.schema.empty()) condition += " AND n.nspname = " + transition::quote_literal(rule.schema);
    condition += ")";
  }
  return "SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE " + condition;
}

/// Which column of which table each column of a view shows, for views over those tables, also over such
/// views. A view that shows none of a table it reads has one row without names.
std::string narrowed_columns(const config::settings& settings) {
  const std::string tables = narrowed_tables(settings);
  return "SELECT a.attrelid, a.attnum, a.attname FROM (" + tables +
         ") t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped; "
         "WITH RECURSIVE shown(view, base, rule) AS (SELECT r.ev_class, t.oid, r.oid FROM (" +
         tables +
         ") t JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid AND "
         "d.classid = 'pg_rewrite'::regclass JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_type = '1' "
         "UNION SELECT r.ev_class, s.view, r.oid FROM shown s JOIN pg_depend d ON "
         "d.refclassid = 'pg_class'::regclass AND d.refobjid = s.view AND d.classid = 'pg_rewrite'::regclass "
         "AND d.deptype = 'n' JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_type = '1') "
         "SELECT s.view, regexp_replace(m[1], E'\\\\\\\\(.)', E'\\\\1', 'g'), s.base, a.attname "
         "FROM shown s JOIN pg_rewrite r ON r.oid = s.rule LEFT JOIN LATERAL regexp_matches("
         "r.ev_action::text, E':resname ((?:\\\\\\\\.|[^[:space:]\\\\\\\\])+) :ressortgroupref [0-9]+ "
         ":resorigtbl "
         "([0-9]+) :resorigcol ([0-9]+)', 'g') m ON m[2]::oid = s.base "
         "LEFT JOIN pg_attribute a ON a.attrelid = s.base AND a.attnum = m[3]::int; ";
}

/// The columns whose names the closure knows: of triggers, foreign keys, partition keys and the rules.
std::string named_columns(const config::settings& settings) {
  return "attnum > 0 AND attrelid IN (SELECT conrelid FROM pg_constraint WHERE contype = 'f' "
         "UNION SELECT confrelid FROM pg_constraint WHERE contype = 'f' "
         "UNION SELECT tgrelid FROM pg_trigger WHERE NOT tgisinternal "
         "UNION SELECT adrelid FROM pg_attrdef UNION SELECT partrelid FROM pg_partitioned_table UNION " +
         narrowed_tables(settings) + ")";
}

std::string fingerprint(const config::settings& settings) {
  std::string text = "SELECT string_agg(p, ' ') FROM (" +
                     part("pg_class", "oid::int8", "oid >= 16384 AND relkind IN ('r', 'p', 'v', 'm', 'f')") +
                     " UNION ALL " +
                     part("pg_attribute", "attrelid::int8 * 2048 + attnum", named_columns(settings)) +
                     " UNION ALL " + part("pg_inherits", "inhrelid::int8 * 31 + inhparent::int8") +
                     " UNION ALL " + part("pg_partitioned_table", "partrelid::int8") + " UNION ALL " +
                     part("pg_foreign_table", "ftrelid::int8") + " UNION ALL " +
                     part("pg_index", "indexrelid::int8", "indexprs IS NOT NULL OR indpred IS NOT NULL");
  for (const char* table :
       {"pg_namespace", "pg_proc", "pg_language", "pg_extension", "pg_trigger", "pg_constraint", "pg_rewrite",
        "pg_attrdef", "pg_policy", "pg_operator", "pg_type", "pg_cast", "pg_amproc", "pg_amop",
        "pg_event_trigger", "pg_statistic_ext"}) {
    text += " UNION ALL " + part(table, "oid::int8", "oid >= 16384");
  }
  return text + ") f; ";
}

} // namespace

std::string fingerprint_text(const config::settings& settings) {
  return begin_text + fingerprint(settings) + "COMMIT";
}

std::string catalog_text(const config::settings& settings) {
  return begin_text + fingerprint(settings) + relations + functions() + triggers + foreign_keys() +
         inheritance + rules() + column_rules + policies() + others + dependencies +
         narrowed_columns(settings) + "COMMIT";
}

} // namespace ledgergate::control
