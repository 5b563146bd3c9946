// Which holders of the gate have been idle for long enough to be evicted. Pure: told each observation.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "proxy/transition/pin_snapshot.hpp"
#include "proxy/transition/record_book.hpp"

namespace ledgergate::transition {

class idle_holders {
 public:
  /// Those of `holders` that have now been idle for `after` or longer, each named once for one idleness. A
  /// prepared transaction has nobody to end. One that is active but waits for its client counts from when it
  /// was first seen so, since its state's age includes the time its statement ran.
  std::vector<gate_lock> due(const std::vector<gate_lock>& holders, time_point now,
                             std::chrono::milliseconds after);

 private:
  /// A backend is named by its pid and its start, since pids are used again.
  struct sighting {
    std::int32_t pid = 0;
    wall_time backend_start{};
    time_point idle_since;
    bool named = false;
  };

  std::vector<sighting> seen_; ///< idle at the last observation
};

} // namespace ledgergate::transition
