// From a run that broke a guarantee to the shortest thing that one client must say to break it again.
#pragma once

#include <string>
#include <vector>

#include "tests/simulation/world.hpp"

namespace ledgergate::simulation {

/// One line a message (`+` in front: sent without waiting for answers), then the trace of the run that shows
/// it. A single line when no one session breaks it alone.
std::vector<std::string> shrink_run(const run_options& options);

} // namespace ledgergate::simulation
