// One message written as text to its bytes: `Query "BEGIN"`, `Parse "s" "SELECT 1"`, `ReadyForQuery T`,
// `FunctionCall 3090`, ...
#pragma once

#include <string>

namespace ledgergate::test {

/// Throws std::runtime_error for a message that is not known. Lock calls and pins are those of the keys
/// 1263879245 (gate) and 1263879247 (applier).
std::string message_from_text(const std::string& text);

} // namespace ledgergate::test
