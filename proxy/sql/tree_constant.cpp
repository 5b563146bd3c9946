#include "proxy/sql/tree_constant.hpp"

#include <charconv>
#include <system_error>

#include "proxy/sql/tree_node.hpp"

namespace ledgergate::sql {

const json::object* constant_of(const json::value& argument) {
  const json::value* value = &argument;
  while (value != nullptr) {
    if (const json::object* constant = node_of(*value, "A_Const")) return constant;
    const json::object* wrapper = node_of(*value, "TypeCast");
    if (wrapper == nullptr) wrapper = node_of(*value, "NamedArgExpr");
    value = wrapper != nullptr ? wrapper->if_contains("arg") : nullptr;
  }
  return nullptr;
}

std::optional<std::int64_t> integer_of(const json::object& constant, std::string_view text) {
  std::string_view digits;
  if (const json::object* integer = object_of(constant, "ival")) {
    const json::value* value = integer->if_contains("ival");
    if (value != nullptr && value->is_int64()) return value->get_int64();
    // The tree leaves out zero and negative numbers; what stands at the constant's place tells them apart.
    const json::value* location = constant.if_contains("location");
    const std::int64_t* offset = location != nullptr ? location->if_int64() : nullptr;
    const std::size_t at =
        offset != nullptr && *offset >= 0 ? static_cast<std::size_t>(*offset) : text.size();
    return at < text.size() && text[at] == '0' ? std::optional<std::int64_t>{0} : std::nullopt;
  }
  if (const json::object* number = object_of(constant, "fval")) digits = text_of(*number, "fval");
  if (const json::object* string = object_of(constant, "sval")) digits = text_of(*string, "sval");
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
  return value;
}

} // namespace ledgergate::sql
