// The body of a mutating request: one JSON object whose members are scalars. Stricter than a general JSON
// reader, because a request that can be read in two ways must not change the mode: a name given twice is an
// error, and a member of the wrong kind is kept with the word for its kind, so that the answer can name it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ledgergate::admin {

/// A member that is neither a string nor a boolean; `kind` is "a number", "null", "an object" or "an array".
struct other_json {
  const char* kind;
};

using flat_json_value = std::variant<std::string, bool, other_json>;

/// The kind of a value with its article, for messages: "a string", "a boolean", "a number", ..
const char* kind_of(const flat_json_value& value);

/// Members in the order of the text; names are unique.
using flat_json_object = std::vector<std::pair<std::string, flat_json_value>>;

/// Why a text was refused, as a sentence for the client.
struct flat_json_error {
  std::string message;
};

/// Deepest nesting that is read at all; anything deeper is refused before it costs stack or memory.
inline constexpr std::size_t flat_json_max_depth = 8;

/// Reads exactly one object (RFC 8259, nothing beside it but white space).
[[nodiscard]] std::variant<flat_json_object, flat_json_error> parse_flat_json(std::string_view text);

} // namespace ledgergate::admin
