// A YAML text as a plain tree with places. yaml-cpp stays behind this header: its nodes, its exceptions and
// its lenient conversions are not seen by the readers of the sections.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "config/position.hpp"

namespace ledgergate::config {

enum class node_kind {
  null, ///< nothing, `null` or `~`
  text, ///< any scalar; `quoted` says whether it was written as a string on purpose
  list,
  map, ///< children in the order of the file, duplicate keys included
};

struct node {
  node_kind kind = node_kind::null;
  std::string text;
  bool quoted = false;
  std::string key; ///< of a child of a map, with its own place
  position key_at;
  position at; ///< of the scalar; of the key for everything else that has one
  std::vector<node> children;
};

struct document_error {
  position at;
  std::string message;
};

/// One document with a map at its top (a text without any content gives an empty map). Anything else is an
/// error: not UTF-8, YAML syntax, several documents, a top that is no map, tags, keys that are not text, and
/// aliases that grow without bound.
[[nodiscard]] boost::system::result<node, document_error> parse_document(const std::string& text);

} // namespace ledgergate::config
