// When two schema names may mean the same schema.
#pragma once

#include <string_view>

namespace ledgergate::sql {

/// A name that is not written may be any. Each session calls its own temporary schema pg_temp, which the
/// catalogs list as pg_temp_N among those of the other sessions; which N is whose nobody says, so all of them
/// may be the same. (PostgreSQL manual, section 5.9, and search_path in section 20.11.)
bool may_be_same_schema(std::string_view left, std::string_view right);

} // namespace ledgergate::sql
