// The verdict on a candidate that could not be parsed, from its words alone. G7: what could touch the ledger
// is pinned.
#pragma once

#include <string_view>

#include "proxy/sql/classifier.hpp"
#include "proxy/sql/mention_scan.hpp"

namespace ledgergate::sql {

/// What the mention test looks for.
namespace mention {
inline constexpr mention_mask table = 1U << 0U;
inline constexpr mention_mask function = 1U << 1U;
inline constexpr mention_mask control_table = 1U << 2U;
inline constexpr mention_mask hidden_name = 1U << 3U; ///< U&"..": may spell any name
inline constexpr mention_mask execute = 1U << 4U;
inline constexpr mention_mask do_block = 1U << 5U;
inline constexpr mention_mask query_text = 1U << 6U; ///< a function that runs a query given as text
inline constexpr mention_mask advisory_lock = 1U << 7U;
inline constexpr mention_mask prepare = 1U << 8U;
inline constexpr mention_mask forget = 1U << 9U;  ///< DEALLOCATE, DISCARD
inline constexpr mention_mask unlock = 1U << 10U; ///< pg_advisory_unlock..
inline constexpr mention_mask isolation =
    1U << 11U; ///< may set an isolation level, of the transaction or by default
inline constexpr mention_mask catalog = 1U << 12U;    ///< a name that the catalogs say leads to the ledger
inline constexpr mention_mask transition = 1U << 13U; ///< one whose use may change the mode
inline constexpr mention_mask unread_catalog = 1U << 14U; ///< set in every text until the catalogs were read
inline constexpr mention_mask definition = 1U << 15U;     ///< may open a way without naming where it leads
/// The ones that can lead to the ledger; the others only matter for what the session keeps track of.
inline constexpr mention_mask can_touch = table | function | control_table | hidden_name | execute |
                                          do_block | query_text | advisory_lock | catalog | transition |
                                          unread_catalog;
} // namespace mention

/// `label`: static text, why it could not be read.
text_verdict judge_unreadable(std::string_view text, mention_mask mentioned, const char* label);

} // namespace ledgergate::sql
