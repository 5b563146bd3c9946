// What a text that holds a word about isolation levels may do to the level of its transaction or session.
#pragma once

#include <string_view>

#include "proxy/sql/classifier.hpp"

namespace ledgergate::sql {

/// For texts in which one of the words was found. `begins_low` only for exactly one BEGIN or START
/// TRANSACTION whose level is READ COMMITTED or READ UNCOMMITTED; everything else, comments and strings
/// included, raises doubt: the server is asked then.
isolation_mention isolation_of(std::string_view text);

} // namespace ledgergate::sql
