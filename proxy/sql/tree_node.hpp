// Looking things up in the parser's syntax tree. A node is {"NodeName": {fields}}; a field of a fixed type
// holds the fields alone. Every function answers "absent" (null, empty, false) for what is not there or of
// another type.
#pragma once

#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace ledgergate::sql {

namespace json = boost::json;

inline std::string_view text_of(const json::object& node, std::string_view key) {
  const json::value* found = node.if_contains(key);
  return found != nullptr && found->is_string() ? std::string_view(found->get_string()) : std::string_view{};
}

inline bool flag_of(const json::object& node, std::string_view key) {
  const json::value* found = node.if_contains(key);
  return found != nullptr && found->is_bool() && found->get_bool();
}

inline const json::object* object_of(const json::object& node, std::string_view key) {
  const json::value* found = node.if_contains(key);
  return found != nullptr ? found->if_object() : nullptr;
}

inline const json::array* array_of(const json::object& node, std::string_view key) {
  const json::value* found = node.if_contains(key);
  return found != nullptr ? found->if_array() : nullptr;
}

/// The fields of `value` when it is a node of that name: {"Name": {fields}}.
inline const json::object* node_of(const json::value& value, std::string_view name) {
  const json::object* wrapper = value.if_object();
  return wrapper != nullptr ? object_of(*wrapper, name) : nullptr;
}

inline std::string_view string_node(const json::value& value) {
  const json::object* node = node_of(value, "String");
  return node != nullptr ? text_of(*node, "sval") : std::string_view{};
}

} // namespace ledgergate::sql
