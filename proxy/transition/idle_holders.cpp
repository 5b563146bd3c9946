#include "proxy/transition/idle_holders.hpp"

#include <algorithm>
#include <utility>

namespace ledgergate::transition {

std::vector<gate_lock> idle_holders::due(const std::vector<gate_lock>& holders, time_point now,
                                         std::chrono::milliseconds after) {
  std::vector<gate_lock> found;
  std::vector<sighting> seen;
  for (const gate_lock& lock : holders) {
    if (!lock.pid || !lock.backend_start || !lock.is_idle()) continue;
    sighting current{*lock.pid, *lock.backend_start, now, false};
    const auto before = std::find_if(seen_.begin(), seen_.end(), [&](const sighting& old) {
      return old.pid == current.pid && old.backend_start == current.backend_start;
    });
    if (before != seen_.end()) {
      current = *before;
    } else if (!lock.waits_for_client) {
      current.idle_since = now - lock.state_age.value_or(elapsed(0));
    }
    // It did something in between when its state is younger than the idleness that we believe in.
    constexpr std::chrono::milliseconds clock_noise{50};
    if (lock.state_age && now - *lock.state_age > current.idle_since + clock_noise) {
      current.idle_since = now - *lock.state_age;
      current.named = false;
    }
    if (!current.named && now - current.idle_since >= after) {
      current.named = true;
      found.push_back(lock);
    }
    seen.push_back(current);
  }
  seen_ = std::move(seen);
  return found;
}

} // namespace ledgergate::transition
