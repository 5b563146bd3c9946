// The audit table's entries as texts and as values. Pure.
#pragma once

#include <string>
#include <vector>

#include "proxy/transition/sql_result.hpp"
#include "proxy/transition/transition_record.hpp"

namespace ledgergate::transition {

/// The INSERT of a transition that is about to commit. What it costs is not known before; see
/// statements::release_slot_and_complete().
std::string audit_entry(const transition_record& record);

/// Rows of statements::read_history(), newest first. What the table does not have (each attempt, blockers)
/// is left empty.
std::vector<transition_record> read_history(const result_set& set);

} // namespace ledgergate::transition
