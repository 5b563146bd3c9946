#include "tests/simulation/lock_manager.hpp"

#include <algorithm>

namespace ledgergate::simulation {

bool lock_manager::blocked_by_holders(const object& what, lock_holder holder, lock_mode mode) {
  for (const auto& [other, locks] : what.granted) {
    if (other == holder) continue;
    for (const lock_mode theirs : {lock_mode::shared, lock_mode::exclusive})
      if (held(locks, theirs) && conflict(theirs, mode)) return true;
  }
  return false;
}

void lock_manager::grant(object& what, const waiter& who) {
  ++what.granted[who.holder][static_cast<std::size_t>(who.mode)][who.owner];
}

lock_manager::wait_result lock_manager::request(lock_holder holder, lock_key key, lock_mode mode,
                                                lock_owner owner) {
  object& what = objects_[key];
  const waiter who{holder, mode, owner};
  const auto own = what.granted.find(holder);
  const bool again = own != what.granted.end() && held(own->second, mode);
  const bool behind_queue = std::any_of(what.queue.begin(), what.queue.end(),
                                        [&](const waiter& other) { return conflict(other.mode, mode); });
  if (again || (!behind_queue && !blocked_by_holders(what, holder, mode))) {
    grant(what, who);
    return wait_result::granted;
  }
  waits_[holder] = {key, wait_result::waits};
  insert(what, who);
  return poll(holder);
}

/// ProcSleep: at the end of the queue, or in front of the first one who waits for what we hold ourselves.
void lock_manager::insert(object& what, const waiter& who) {
  const auto own = what.granted.find(who.holder);
  if (own == what.granted.end()) {
    what.queue.push_back(who);
    return;
  }
  bool conflicts_ahead = false;
  for (auto at = what.queue.begin(); at != what.queue.end(); ++at) {
    const bool waits_for_us =
        (held(own->second, lock_mode::shared) && conflict(lock_mode::shared, at->mode)) ||
        (held(own->second, lock_mode::exclusive) && conflict(lock_mode::exclusive, at->mode));
    if (!waits_for_us) {
      conflicts_ahead = conflicts_ahead || conflict(at->mode, who.mode);
      continue;
    }
    const auto theirs = what.granted.find(at->holder);
    if (theirs != what.granted.end() &&
        ((held(theirs->second, lock_mode::shared) && conflict(lock_mode::shared, who.mode)) ||
         held(theirs->second, lock_mode::exclusive))) {
      waits_[who.holder].result = wait_result::deadlock; // each waits for the other: found at once
      return;
    }
    if (!conflicts_ahead && !blocked_by_holders(what, who.holder, who.mode)) {
      grant(what, who);
      waits_[who.holder].result = wait_result::granted;
      return;
    }
    what.queue.insert(at, who);
    return;
  }
  what.queue.push_back(who);
}

lock_manager::wait_result lock_manager::poll(lock_holder holder) {
  const auto found = waits_.find(holder);
  if (found == waits_.end()) return wait_result::granted;
  const wait_result result = found->second.result;
  if (result != wait_result::waits) waits_.erase(found);
  return result;
}

std::optional<lock_key> lock_manager::waits_for(lock_holder holder) const {
  const auto found = waits_.find(holder);
  if (found == waits_.end() || found->second.result != wait_result::waits) return std::nullopt;
  return found->second.key;
}

void lock_manager::give_up(lock_holder holder) {
  const auto found = waits_.find(holder);
  if (found == waits_.end()) return;
  const lock_key key = found->second.key;
  waits_.erase(found);
  std::erase_if(objects_[key].queue, [&](const waiter& who) { return who.holder == holder; });
  wake(key);
}

/// ProcLockWakeup: in order, who conflicts neither with a holder nor with one who goes on waiting ahead.
void lock_manager::wake(lock_key key) {
  object& what = objects_[key];
  std::vector<lock_mode> ahead;
  for (auto at = what.queue.begin(); at != what.queue.end();) {
    const bool behind =
        std::any_of(ahead.begin(), ahead.end(), [&](lock_mode mode) { return conflict(mode, at->mode); });
    if (behind || blocked_by_holders(what, at->holder, at->mode)) {
      ahead.push_back(at->mode);
      ++at;
      continue;
    }
    grant(what, *at);
    waits_[at->holder].result = wait_result::granted;
    at = what.queue.erase(at);
  }
  if (what.granted.empty() && what.queue.empty()) objects_.erase(key);
}

void lock_manager::drop(lock_key key, lock_holder holder, const std::function<bool(lock_owner)>& which) {
  object& what = objects_[key];
  const auto own = what.granted.find(holder);
  if (own == what.granted.end()) return;
  for (counts& mode : own->second)
    std::erase_if(mode, [&](const auto& entry) { return which(entry.first); });
  if (own->second[0].empty() && own->second[1].empty()) {
    what.granted.erase(own);
    if (on_lost) on_lost(holder, key);
  }
  wake(key);
}

void lock_manager::drop_everywhere(lock_holder holder, const std::function<bool(lock_owner)>& which) {
  std::vector<lock_key> keys;
  for (const auto& [key, what] : objects_)
    if (what.granted.contains(holder)) keys.push_back(key);
  for (const lock_key key : keys)
    drop(key, holder, which);
}

bool lock_manager::release_session_lock(lock_holder holder, lock_key key, lock_mode mode) {
  const auto what = objects_.find(key);
  if (what == objects_.end()) return false;
  const auto own = what->second.granted.find(holder);
  if (own == what->second.granted.end()) return false;
  counts& locks = own->second[static_cast<std::size_t>(mode)];
  const auto count = locks.find(session_owner);
  if (count == locks.end()) return false;
  if (--count->second == 0) locks.erase(count);
  drop(key, holder, [](lock_owner) { return false; });
  return true;
}

void lock_manager::release_session_locks(lock_holder holder) {
  drop_everywhere(holder, [](lock_owner owner) { return owner == session_owner; });
}

void lock_manager::end_transaction(lock_holder holder) {
  drop_everywhere(holder, [](lock_owner owner) { return owner != session_owner; });
}

void lock_manager::abort_subtransaction(lock_holder holder, lock_owner depth) {
  drop_everywhere(holder, [depth](lock_owner owner) { return owner >= depth; });
}

void lock_manager::commit_subtransaction(lock_holder holder, lock_owner depth) {
  for (auto& [key, what] : objects_) {
    const auto own = what.granted.find(holder);
    if (own == what.granted.end()) continue;
    for (counts& mode : own->second) {
      const auto from = mode.find(depth);
      if (from == mode.end()) continue;
      mode[depth - 1] += from->second;
      mode.erase(from);
    }
  }
}

bool lock_manager::can_prepare(lock_holder holder) const {
  for (const auto& [key, what] : objects_) {
    const auto own = what.granted.find(holder);
    if (own == what.granted.end()) continue;
    bool session = false;
    bool transaction = false;
    for (const counts& mode : own->second)
      for (const auto& [owner, count] : mode)
        (owner == session_owner ? session : transaction) = true;
    if (session && transaction) return false;
  }
  return true;
}

void lock_manager::hand_over_transaction(lock_holder from, lock_holder to) {
  for (auto& [key, what] : objects_) {
    const auto own = what.granted.find(from);
    if (own == what.granted.end()) continue;
    std::array<counts, 2> moved;
    for (std::size_t mode = 0; mode < 2; ++mode) {
      counts& locks = own->second[mode];
      for (auto at = locks.begin(); at != locks.end();) {
        if (at->first != session_owner) moved[mode][0] += at->second;
        at = at->first == session_owner ? std::next(at) : locks.erase(at);
      }
    }
    if (own->second[0].empty() && own->second[1].empty()) what.granted.erase(own);
    if (!moved[0].empty() || !moved[1].empty()) what.granted[to] = std::move(moved);
  }
}

bool lock_manager::holds(lock_holder holder, lock_key key, lock_mode at_least) const {
  const auto mode = mode_held(holder, key);
  return mode && *mode >= at_least;
}

std::optional<lock_mode> lock_manager::mode_held(lock_holder holder, lock_key key) const {
  const auto what = objects_.find(key);
  if (what == objects_.end()) return std::nullopt;
  const auto own = what->second.granted.find(holder);
  if (own == what->second.granted.end()) return std::nullopt;
  return held(own->second, lock_mode::exclusive) ? lock_mode::exclusive : lock_mode::shared;
}

std::optional<lock_mode> lock_manager::mode_wanted(lock_holder holder) const {
  const auto key = waits_for(holder);
  if (!key) return std::nullopt;
  for (const waiter& who : objects_.at(*key).queue)
    if (who.holder == holder) return who.mode;
  return std::nullopt;
}

bool lock_manager::holds_session_lock(lock_holder holder, lock_key key) const {
  const auto what = objects_.find(key);
  if (what == objects_.end()) return false;
  const auto own = what->second.granted.find(holder);
  if (own == what->second.granted.end()) return false;
  return own->second[0].contains(session_owner) || own->second[1].contains(session_owner);
}

bool lock_manager::holds_anything(lock_holder holder) const {
  return std::any_of(objects_.begin(), objects_.end(),
                     [&](const auto& entry) { return entry.second.granted.contains(holder); });
}

std::vector<lock_holder> lock_manager::holders(lock_key key) const {
  std::vector<lock_holder> out;
  const auto what = objects_.find(key);
  if (what == objects_.end()) return out;
  for (const auto& [holder, locks] : what->second.granted)
    out.push_back(holder);
  return out;
}

std::vector<lock_holder> lock_manager::waiters(lock_key key) const {
  std::vector<lock_holder> out;
  const auto what = objects_.find(key);
  if (what == objects_.end()) return out;
  for (const waiter& who : what->second.queue)
    out.push_back(who.holder);
  return out;
}

/// Whom the holder waits for: who holds what conflicts, and with `of_queue` who stands ahead and conflicts.
std::vector<lock_holder> lock_manager::blockers(lock_holder holder, bool of_queue) const {
  std::vector<lock_holder> out;
  const auto key = waits_for(holder);
  if (!key) return out;
  const object& what = objects_.at(*key);
  const auto self = std::find_if(what.queue.begin(), what.queue.end(),
                                 [&](const waiter& who) { return who.holder == holder; });
  if (self == what.queue.end()) return out;
  for (const auto& [other, locks] : what.granted) {
    const bool blocks = (held(locks, lock_mode::shared) && conflict(lock_mode::shared, self->mode)) ||
                        held(locks, lock_mode::exclusive);
    if (other != holder && blocks) out.push_back(other);
  }
  if (of_queue)
    for (auto at = what.queue.begin(); at != self; ++at)
      if (conflict(at->mode, self->mode)) out.push_back(at->holder);
  return out;
}

bool lock_manager::in_circle(lock_holder start, bool through_queues) const {
  std::set<lock_holder> seen;
  std::vector<lock_holder> open = blockers(start, through_queues);
  while (!open.empty()) {
    const lock_holder next = open.back();
    open.pop_back();
    if (next == start) return true;
    if (!seen.insert(next).second) continue;
    for (const lock_holder blocker : blockers(next, through_queues))
      open.push_back(blocker);
  }
  return false;
}

void lock_manager::check_deadlock(lock_holder holder) {
  if (!waits_for(holder) || !in_circle(holder, true)) return;
  if (!in_circle(holder, false) && move_somebody_ahead(holder)) return;
  const lock_key key = waits_.at(holder).key;
  std::erase_if(objects_[key].queue, [&](const waiter& who) { return who.holder == holder; });
  waits_.at(holder).result = wait_result::deadlock;
  wake(key);
}

/// Tries every change of places in the queues that breaks the circle of this holder and makes no other.
bool lock_manager::move_somebody_ahead(lock_holder holder) {
  for (auto& [key, what] : objects_) {
    for (std::size_t behind = 1; behind < what.queue.size(); ++behind) {
      for (std::size_t ahead = 0; ahead < behind; ++ahead) {
        if (!conflict(what.queue[ahead].mode, what.queue[behind].mode)) continue;
        const std::vector<waiter> before = what.queue;
        const waiter moved = what.queue[behind];
        what.queue.erase(what.queue.begin() + static_cast<std::ptrdiff_t>(behind));
        what.queue.insert(what.queue.begin() + static_cast<std::ptrdiff_t>(ahead), moved);
        const bool better = !in_circle(holder, true) &&
                            std::none_of(what.queue.begin(), what.queue.end(),
                                         [&](const waiter& who) { return in_circle(who.holder, true); });
        if (better) {
          wake(key);
          return true;
        }
        what.queue = before;
      }
    }
  }
  return false;
}

} // namespace ledgergate::simulation
