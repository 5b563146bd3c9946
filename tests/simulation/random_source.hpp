// The only source of chance of a simulation: the same seed gives the same run with every compiler and
// library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ledgergate::simulation {

/// splitmix64. Not for secrets.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  /// Uniform enough in [0, bound). `bound` must not be 0.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  /// True once in `n` times.
  bool one_in(std::size_t n) { return below(n) == 0; }
  double fraction() { return static_cast<double>(next() >> 11U) / 9007199254740992.0; }

 private:
  std::uint64_t state_;
};

} // namespace ledgergate::simulation
