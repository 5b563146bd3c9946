#include "proxy/transition/pin_snapshot.hpp"

#include <algorithm>

namespace ledgergate::transition {

namespace {

bool is_pin(const gate_lock& lock) { return lock.hold == gate_hold::pin; }

} // namespace

std::size_t pin_snapshot::pins_held() const {
  return static_cast<std::size_t>(std::count_if(holders.begin(), holders.end(), is_pin));
}

std::size_t pin_snapshot::pins_waiting() const {
  return static_cast<std::size_t>(std::count_if(waiters.begin(), waiters.end(), is_pin));
}

std::optional<elapsed> pin_snapshot::oldest_pin_age() const {
  std::optional<elapsed> oldest;
  for (const auto& lock : holders) {
    if (!is_pin(lock)) continue;
    const auto age = lock.age().value_or(elapsed(0));
    if (!oldest || age > *oldest) oldest = age;
  }
  return oldest;
}

elapsed pin_snapshot::longest_pin_wait() const {
  elapsed longest{0};
  for (const auto& lock : waiters) {
    if (is_pin(lock)) longest = std::max(longest, lock.wait.value_or(elapsed(0)));
  }
  return longest;
}

} // namespace ledgergate::transition
