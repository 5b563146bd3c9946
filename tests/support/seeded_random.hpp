// Randomness that can be replayed: the seed is printed, and LG_SEED sets it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace ledgergate::test {

inline std::uint32_t chosen_seed() {
  const char* given = std::getenv("LG_SEED");
  const std::uint32_t seed =
      given != nullptr ? static_cast<std::uint32_t>(std::stoul(given)) : std::random_device{}();
  std::cout << "LG_SEED=" << seed << '\n';
  return seed;
}

} // namespace ledgergate::test
