// The allowed ranges, in one place: ledgergate.yaml and the admin API's request fields obey the same numbers.
#pragma once

#include "config/units.hpp"

namespace ledgergate::config::ranges {

using namespace std::chrono_literals;

inline constexpr duration_range deadline{100ms, 10min};
inline constexpr duration_range queue_budget{10ms, 60s};
inline constexpr duration_range hold_budget{100ms, 60s};
inline constexpr duration_range applier_timeout{100ms, 5min};
inline constexpr duration_range catalog_refresh{1s, 1h};
inline constexpr duration_range evict_idle_after{1s, 1h};
inline constexpr duration_range connect_timeout{100ms, 60s};
inline constexpr duration_range client_startup_timeout{100ms, 5min};
inline constexpr duration_range drain_timeout{0s, 1h};
inline constexpr duration_range drain_accept_for{0s, 10min};
inline constexpr number_range port{1, 65535};
inline constexpr number_range max_clients{1, 100'000};
inline constexpr number_range max_waiting_pins{1, 1'000'000};
inline constexpr number_range threads{1, 256};
inline constexpr size_range max_buffered_statement{std::size_t{64} << 10, std::size_t{1} << 30};

} // namespace ledgergate::config::ranges
