// Errors of the proxy's own, as ErrorResponse messages (PostgreSQL manual, "Error and Notice Message
// Fields").
#pragma once

#include <string>
#include <string_view>

namespace ledgergate::protocol {

/// A whole ErrorResponse: severity (`ERROR`, `FATAL`) in both its forms, SQLSTATE, message, and a hint unless
/// empty.
std::string make_error_response(std::string_view severity, std::string_view sqlstate,
                                std::string_view message, std::string_view hint = {});

/// A whole ReadyForQuery with the given state letter.
std::string make_ready_for_query(char status);

} // namespace ledgergate::protocol
