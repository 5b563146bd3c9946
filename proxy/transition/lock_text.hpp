// Pieces of SQL about advisory locks, shared by the builders of texts in this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ledgergate::transition {

/// First int4 of the transition slot's two-key advisory lock ("LGAT"): keeps it apart from any key of the
/// application.
inline constexpr std::uint32_t slot_namespace = 0x4C474154;
/// Its second int4, which keeps apart the slots of several gates in one database.
std::uint32_t slot_key(std::int64_t gate_key);

/// The condition that row `alias` of pg_locks is about a bigint key, or about a pair of int4 keys.
std::string key_condition(std::string_view alias, std::int64_t key);
std::string key_condition(std::string_view alias, std::uint32_t first, std::uint32_t second);

/// `WITH locks AS ..`: the advisory locks of this database (F19), and what ties a prepared transaction's
/// locks to its gid. Read once: reading pg_locks takes every partition of the lock table (F28).
extern const std::string_view with_locks;

/// Seconds from `moment` until now, as a number with a fraction.
std::string seconds_since(std::string_view moment);

} // namespace ledgergate::transition
