#include "protocol/tags.hpp"

namespace ledgergate::protocol {

namespace {
constexpr std::uint32_t small_limit = 10000;
constexpr std::uint32_t large_limit = 0x3fffffff;
} // namespace

std::uint32_t max_frontend_length(char tag) {
  switch (tag) {
  case frontend::query:
  case frontend::function_call:
  case frontend::bind:
  case frontend::parse:
  case frontend::copy_data: return large_limit;
  case frontend::close:
  case frontend::describe:
  case frontend::execute:
  case frontend::flush:
  case frontend::sync:
  case frontend::terminate:
  case frontend::copy_done:
  case frontend::copy_fail: return small_limit;
  default: return 0;
  }
}

} // namespace ledgergate::protocol
