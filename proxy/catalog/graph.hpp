// Which ways of reaching which objects lead to the ledger: a graph of "doing this does that", and its
// transitive fix-point from the configured names outwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/catalog/link_kind.hpp"
#include "proxy/sql/catalog_closure.hpp"

namespace ledgergate::catalog {

/// Something that can be done: reading one table, calling one function. Small consecutive numbers.
using way_id = std::uint32_t;

/// What a statement must assign for a way to count; nothing named means that any will do.
using column_names = std::vector<std::string>;

/// From the columns of a table to those of a view that show them.
using column_map = std::vector<std::pair<std::string, std::string>>;

/// Doing `from` does `to`.
struct link {
  link_kind kind = link_kind::view;
  way_id from = 0;
  way_id to = 0;
  /// The columns of `to` that are assigned; null: it is not known, it may be any.
  std::shared_ptr<const column_names> assigned;
  /// `assigned` are the words of a text, folded: a column whose name is no such word may be assigned too.
  bool assigned_by_word = false;
  /// Doing `from` has this effect only when one of these is assigned there.
  column_names only_if;
  /// For a view: how the columns that matter below are called above. Replaces `only_if`.
  std::shared_ptr<const column_map> renamed;
  std::string reason; ///< a phrase: "trigger t calls f()"
};

/// What is known of one way at the end.
struct way {
  sql::touch_kind touch = sql::touch_kind::none;
  column_names columns;             ///< empty: whatever is assigned
  std::string reason;               ///< of the link that first made it (or made it as strong as it is)
  std::optional<way_id> because_of; ///< the way that link leads to; absent: configured
};

class graph {
 public:
  /// A new object with so many ways; returns the first of them.
  way_id add_ways(std::size_t count);
  void add(link made);
  /// A way that touches by configuration.
  void seed(way_id at, sql::touch_kind touch, column_names columns, std::string reason);

  /// Follows every link until nothing changes. Call once.
  void close();

  const way& at(way_id id) const { return ways_[id]; }

 private:
  bool raise(way_id at, sql::touch_kind touch, const column_names& columns, const std::string& reason,
             std::optional<way_id> because_of);

  std::vector<way> ways_;
  std::vector<link> links_;
  std::vector<std::pair<way_id, std::size_t>> incoming_; ///< by target, into links_
  std::vector<way_id> pending_;
};

} // namespace ledgergate::catalog
