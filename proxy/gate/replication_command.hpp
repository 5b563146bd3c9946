// Commands of the streaming replication protocol (PostgreSQL manual, "Streaming Replication Protocol"): no
// SQL, never pinned.
#pragma once

#include <string_view>

namespace ledgergate::gate {

/// Whether a simple Query on a replication connection is a replication command, by its first word.
bool is_replication_command(std::string_view text);

} // namespace ledgergate::gate
