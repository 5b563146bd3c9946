// Numbers, SQLSTATEs and small readings that the parts of the transition engine share.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "proxy/transition/sql_result.hpp"

namespace ledgergate::transition {

using std::chrono::milliseconds;

/// The request is answered within this time, whatever the database does.
inline constexpr milliseconds admission_limit{5000};
/// Texts that wait for nothing have their own statement_timeout of two seconds; this is what they may take in
/// all.
inline constexpr milliseconds short_text_limit{5000};
/// How long after its server-side limit a text may stay unanswered before the connection counts as dead.
inline constexpr milliseconds watchdog_grace{5000};
/// The lock table is read at most twice a second (F28).
inline constexpr milliseconds look_interval{500};
/// A shorter stay in the queue is not worth beginning.
inline constexpr milliseconds shortest_attempt{10};
inline constexpr milliseconds shortest_back_off{20};
inline constexpr milliseconds longest_back_off{2000};
/// A cancel that is not confirmed within this time is made by closing the connection.
inline constexpr milliseconds cancel_limit{1000};
/// A cancel that came too early for the server to see the statement is sent again after this.
inline constexpr milliseconds cancel_again_after{100};
/// A commit that takes longer than this is worth a word.
inline constexpr milliseconds commit_notice_after{1000};
inline constexpr milliseconds outcome_interval{500};

inline constexpr std::string_view lock_not_available = "55P03";
inline constexpr std::string_view deadlock_detected = "40P01";
inline constexpr std::string_view query_canceled = "57014";
inline constexpr std::string_view admin_shutdown = "57P01";
inline constexpr std::string_view invalid_parameter_value = "22023";

/// The `index`-th set that has columns (SET and BEGIN have none); null when there are not so many.
const result_set* set_with_columns(const sql_result& result, std::size_t index);

/// The answer to statements::take_slot().
bool took_slot(const sql_result& result);

} // namespace ledgergate::transition
