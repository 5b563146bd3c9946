// Reads the body of POST /v1/transitions. Nothing is corrected or ignored: a field that is not known, of the
// wrong type or out of range is an error that names it, because a misspelt `expect_version` must not become
// an unconditional change.
#pragma once

#include <string_view>
#include <variant>

#include "proxy/admin/replies.hpp"
#include "proxy/transition/transition_record.hpp"

namespace ledgergate::admin {

/// Longest text of a field in bytes; `reason` travels in a NOTIFY payload, which is limited to 8000.
inline constexpr std::size_t max_field_bytes = 1000;

struct transition_call {
  transition::transition_request request;
  bool dry_run = false;
};

/// Whether the modes exist is not checked here.
[[nodiscard]] std::variant<transition_call, api_error> read_transition_request(std::string_view body);

} // namespace ledgergate::admin
