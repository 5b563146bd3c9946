// What is known of a session's isolation level, and the proof that a snapshot is young enough.
//
// At REPEATABLE READ and SERIALIZABLE even the lock call takes the transaction's snapshot before it waits
// (F3): a transition that commits meanwhile would go unseen. So at these levels the pin is followed by a
// proof: with the pin held, no transition can run; the control row's writer is read on the control connection
// and must be visible in the session's own snapshot. The level is never guessed from texts alone: a text that
// could have changed it only raises doubt, and the server is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ledgergate::gate {

enum class isolation_level : std::uint8_t {
  unknown,
  low,    ///< READ COMMITTED or READ UNCOMMITTED: every statement takes its own snapshot
  high,   ///< REPEATABLE READ or SERIALIZABLE, read write
  exempt, ///< the same, READ ONLY: writes nothing and its snapshot fixes the mode it sees; never pinned
  proven, ///< high, and this transaction's snapshot is known to see the last transition
};

/// A lock taken now is early enough: there is no snapshot that could be older than the mode, or it is proven,
/// or it fixes the mode.
constexpr bool needs_no_proof(isolation_level level) {
  return level == isolation_level::low || level == isolation_level::proven ||
         level == isolation_level::exempt;
}

/// The value of transaction_isolation or default_transaction_isolation.
isolation_level level_of_setting(std::string_view value);

/// A pg_snapshot in its binary form: Int32 count, Int64 xmin, Int64 xmax, Int64[count] transactions in
/// progress.
struct snapshot {
  std::uint64_t xmin = 0;
  std::uint64_t xmax = 0;
  std::vector<std::uint64_t> in_progress;

  /// pg_visible_in_snapshot: whether `transaction` was over when the snapshot was taken.
  bool sees(std::uint64_t transaction) const;
};

std::optional<snapshot> decode_snapshot(std::string_view binary);

} // namespace ledgergate::gate
