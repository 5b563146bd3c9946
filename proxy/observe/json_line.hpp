// One log line as a JSON object.
#pragma once

#include <string>
#include <string_view>

namespace ledgergate::observe {

/// The text as the inside of a JSON string: quotes, backslashes and control characters escaped, bytes that
/// are not UTF-8 replaced by U+FFFD, so that a line is always valid JSON.
std::string json_escaped(std::string_view text);

} // namespace ledgergate::observe
