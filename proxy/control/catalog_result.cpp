#include "proxy/control/catalog_result.hpp"

#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace ledgergate::control {

namespace {

using namespace catalog;
using transition::result_set;
using transition::sql_result;
using transition::sql_row;

/// BEGIN and SET stand in front, COMMIT behind.
constexpr std::size_t sets_before = 2;
constexpr std::size_t kinds_of_rows = 19;
/// What catalog_text() puts between the parts of a list; no name contains it in earnest.
constexpr char separator = '\1';

template <typename Number>
Number number_of(std::string_view text) {
  Number out{};
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// The columns of one row, taken one after the other.
class cells {
 public:
  explicit cells(const sql_row& row) : row_(row) {}

  std::string text() { return at_ < row_.size() ? row_[at_++].value_or("") : std::string(); }
  std::optional<std::string> maybe() { return at_ < row_.size() ? row_[at_++] : std::nullopt; }
  object_id oid() { return number_of<object_id>(text()); }
  int number() { return number_of<int>(text()); }
  bool truth() { return text() == "t"; }
  char letter() {
    const std::string value = text();
    return value.empty() ? ' ' : value[0];
  }
  std::vector<std::string> list() {
    std::vector<std::string> parts;
    const std::string value = text();
    for (std::size_t first = 0; first < value.size();) {
      const std::size_t last = std::min(value.find(separator, first), value.size());
      parts.push_back(value.substr(first, last - first));
      first = last + 1;
    }
    return parts;
  }

 private:
  const sql_row& row_;
  std::size_t at_ = 0;
};

object_class class_of(char letter) {
  switch (letter) {
  case 'c': return object_class::relation;
  case 'f': return object_class::function;
  case 'r': return object_class::rule;
  case 'd': return object_class::default_value;
  case 'k': return object_class::constraint;
  case 'p': return object_class::policy;
  case 't': return object_class::trigger;
  case 'o': return object_class::operation;
  case 'y': return object_class::type;
  case 'x': return object_class::cast;
  case 's': return object_class::statistics;
  default: return object_class::class_member;
  }
}

// One function per kind of row, in the order of catalog_text(); the members of an aggregate are initialised
// in order, so each takes the next column.
relation_row read(cells from, relation_row*) {
  return {from.oid(),   from.text(),  from.text(), from.letter(),
          from.truth(), from.truth(), from.list(), from.text()};
}
function_row read(cells from, function_row*) {
  return {from.oid(),  from.text(), from.text(), from.letter(),
          from.text(), from.text(), from.text(), from.maybe()};
}
trigger_row read(cells from, trigger_row*) {
  return {from.oid(), from.oid(), from.text(), from.oid(), from.number(), from.letter(), from.list()};
}
foreign_key_row read(cells from, foreign_key_row*) {
  return {from.text(), from.oid(), from.oid(), from.letter(), from.letter(), from.list(), from.list()};
}
inheritance_row read(cells from, inheritance_row*) { return {from.oid(), from.oid()}; }
rule_row read(cells from, rule_row*) {
  return {from.oid(), from.oid(), from.text(), from.letter(), from.letter(), from.text()};
}
default_row read(cells from, default_row*) { return {from.oid(), from.oid(), from.text(), from.letter()}; }
check_row read(cells from, check_row*) { return {from.oid(), from.oid(), from.oid(), from.text()}; }
policy_row read(cells from, policy_row*) {
  return {from.oid(), from.oid(), from.text(), from.letter(), from.text()};
}
index_row read(cells from, index_row*) { return {from.oid(), from.oid(), from.text()}; }
statistics_row read(cells from, statistics_row*) { return {from.oid(), from.oid(), from.text()}; }
operator_row read(cells from, operator_row*) {
  return {from.oid(), from.text(), from.text(), from.oid(), from.oid()};
}
type_row read(cells from, type_row*) {
  return {from.oid(), from.text(), from.text(), from.letter(), from.oid()};
}
cast_row read(cells from, cast_row*) { return {from.oid(), from.oid(), from.oid()}; }
class_member_row read(cells from, class_member_row*) { return {from.oid(), from.oid()}; }
event_trigger_row read(cells from, event_trigger_row*) {
  return {from.text(), from.text(), from.oid(), from.letter()};
}
dependency_row read(cells from, dependency_row*) {
  dependency_row row{class_of(from.letter()), from.oid(), class_of(from.letter()), from.oid(), {}};
  for (const std::string& column : from.list())
    row.columns.push_back(number_of<int>(column));
  return row;
}
narrowed_column_row read(cells from, narrowed_column_row*) {
  return {from.oid(), from.number(), from.text()};
}
view_column_row read(cells from, view_column_row*) {
  return {from.oid(), from.text(), from.oid(), from.text()};
}

template <typename Row>
void read_set(const result_set& set, std::vector<Row>& target) {
  target.reserve(set.rows.size());
  for (const sql_row& row : set.rows)
    target.push_back(read(cells(row), static_cast<Row*>(nullptr)));
}

std::optional<std::string> single_text(const result_set& set) {
  if (set.rows.size() != 1 || set.rows[0].empty()) return std::nullopt;
  return set.rows[0][0];
}

} // namespace

std::optional<std::string> read_fingerprint(const sql_result& result) {
  return result.error || result.sets.size() != sets_before + 2 ? std::nullopt
                                                               : single_text(result.sets[sets_before]);
}

std::optional<catalog_reading> read_catalog(const sql_result& result) {
  if (result.error || result.sets.size() != sets_before + 1 + kinds_of_rows + 1) return std::nullopt;
  auto fingerprint = single_text(result.sets[sets_before]);
  if (!fingerprint) return std::nullopt;
  catalog_reading reading{std::move(*fingerprint), {}};
  std::size_t next = sets_before + 1;
  catalog_rows& rows = reading.rows;
  const auto take = [&](auto&... targets) { (read_set(result.sets[next++], targets), ...); };
  take(rows.relations, rows.functions, rows.triggers, rows.foreign_keys, rows.inheritance, rows.rules,
       rows.defaults, rows.checks, rows.policies, rows.indexes, rows.statistics, rows.operators, rows.types,
       rows.casts, rows.class_members, rows.event_triggers, rows.dependencies, rows.narrowed_columns,
       rows.view_columns);
  return reading;
}

} // namespace ledgergate::control
