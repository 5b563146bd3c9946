#include "proxy/catalog/graph.hpp"

#include <algorithm>

#include "proxy/sql/lexer.hpp"

namespace ledgergate::catalog {

namespace {

bool meet(const column_names& left, const column_names& right) {
  return std::find_first_of(left.begin(), left.end(), right.begin(), right.end()) != left.end();
}

bool is_folded_word(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_' || sql::is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
  });
}

bool assigns(const link& via, const column_names& below) {
  if (via.assigned == nullptr || below.empty() || meet(*via.assigned, below)) return true;
  return via.assigned_by_word && !std::all_of(below.begin(), below.end(), is_folded_word);
}

/// The columns of `from` that matter when those of `to` are `below`; nothing when none does.
std::optional<column_names> columns_above(const link& via, const column_names& below) {
  if (via.renamed == nullptr || below.empty()) return via.only_if;
  column_names above;
  for (const auto& [origin, shown] : *via.renamed) {
    if (std::find(below.begin(), below.end(), origin) != below.end()) above.push_back(shown);
  }
  return above.empty() ? std::nullopt : std::optional(std::move(above));
}

} // namespace

way_id graph::add_ways(std::size_t count) {
  const auto first = static_cast<way_id>(ways_.size());
  ways_.resize(ways_.size() + count);
  return first;
}

void graph::add(link made) { links_.push_back(std::move(made)); }

void graph::seed(way_id at, sql::touch_kind touch, column_names columns, std::string reason) {
  if (raise(at, touch, columns, reason, std::nullopt)) pending_.push_back(at);
}

/// Only ever grows: touch becomes stronger, columns become more. That is why close() comes to an end, and why
/// following because_of does too.
bool graph::raise(way_id at, sql::touch_kind touch, const column_names& columns, const std::string& reason,
                  std::optional<way_id> because_of) {
  way& target = ways_[at];
  bool changed = false;
  if (target.touch == sql::touch_kind::none) {
    target.columns = columns;
    changed = true;
  } else if (!target.columns.empty()) {
    if (columns.empty()) {
      target.columns.clear();
      changed = true;
    }
    for (const std::string& column : columns) {
      if (std::find(target.columns.begin(), target.columns.end(), column) != target.columns.end()) continue;
      target.columns.push_back(column);
      changed = true;
    }
  }
  if (touch > target.touch) {
    target.touch = touch;
    target.reason = reason;
    target.because_of = because_of;
    changed = true;
  }
  return changed;
}

void graph::close() {
  for (std::size_t i = 0; i < links_.size(); ++i)
    incoming_.emplace_back(links_[i].to, i);
  std::sort(incoming_.begin(), incoming_.end());
  // Breadth first, so that a reason is the shortest there is.
  for (std::size_t next = 0; next < pending_.size(); ++next) {
    const way_id reached = pending_[next];
    auto at = std::lower_bound(incoming_.begin(), incoming_.end(), std::pair(reached, std::size_t{0}));
    for (; at != incoming_.end() && at->first == reached; ++at) {
      const link& via = links_[at->second];
      const way& below = ways_[reached];
      if (!assigns(via, below.columns)) continue;
      const std::optional<column_names> above = columns_above(via, below.columns);
      if (above && raise(via.from, below.touch, *above, via.reason, reached)) pending_.push_back(via.from);
    }
  }
}

} // namespace ledgergate::catalog
