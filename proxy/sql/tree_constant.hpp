// Constants in the parser's syntax tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace ledgergate::sql {

/// The fields of the constant inside casts and argument names; null when the argument is anything else.
const boost::json::object* constant_of(const boost::json::value& argument);

/// The constant as an integer, also when it is a string of digits. `text` is what was parsed. Absent when it
/// is no integer, and when it is negative: the tree does not say which.
std::optional<std::int64_t> integer_of(const boost::json::object& constant, std::string_view text);

} // namespace ledgergate::sql
