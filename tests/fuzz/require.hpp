// A property of a fuzz target: when it does not hold, the input is a finding. On in every build.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace ledgergate::test {

inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "property broken: %s\n", property);
  std::abort();
}

} // namespace ledgergate::test
