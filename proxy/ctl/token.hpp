// The operator's token as it stands in a file.
#pragma once

#include <string>
#include <variant>

namespace ledgergate::ctl {

struct token_error {
  std::string message;
};

/// Surrounding white space is not part of the token. Anything a header field cannot carry is refused.
[[nodiscard]] std::variant<std::string, token_error> read_token(const std::string& path);

} // namespace ledgergate::ctl
