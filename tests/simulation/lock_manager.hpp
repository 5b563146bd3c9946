// The model of the server's lock manager (src/backend/storage/lmgr, lock.c, proc.c, deadlock.c) as far as
// advisory locks and row locks need it: two modes, one queue per key, first come first served, locks counted
// per session and per subtransaction, the deadlock detector that looks at the queue as well.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace ledgergate::simulation {

using lock_key = std::int64_t;
enum class lock_mode : std::uint8_t { shared, exclusive };

/// A backend (positive) or a prepared transaction (negative).
using lock_holder = int;

/// Who owns a lock within its holder: the session, or a subtransaction by its depth (0: the transaction
/// itself).
using lock_owner = int;
inline constexpr lock_owner session_owner = -1;

class lock_manager {
 public:
  enum class wait_result : std::uint8_t { waits, granted, deadlock };

  /// Called when a holder has lost its last lock in any mode of a key.
  std::function<void(lock_holder, lock_key)> on_lost;

  /// A mode already held is granted at once and counted (F6); otherwise who conflicts with a holder, or with
  /// anybody who waits, waits.
  wait_result request(lock_holder holder, lock_key key, lock_mode mode, lock_owner owner);
  /// What became of the holder's wait. A grant is told once.
  wait_result poll(lock_holder holder);
  bool waits(lock_holder holder) const { return waits_.contains(holder); }
  std::optional<lock_key> waits_for(lock_holder holder) const;
  /// Leaves the queue: a timeout, a cancel, the end of the backend.
  void give_up(lock_holder holder);

  /// False: not owned by the session ("you don't own a lock of type ..").
  bool release_session_lock(lock_holder holder, lock_key key, lock_mode mode);
  void release_session_locks(lock_holder holder);
  void end_transaction(lock_holder holder);
  void commit_subtransaction(lock_holder holder, lock_owner depth);
  void abort_subtransaction(lock_holder holder, lock_owner depth);
  /// F12: false, and nothing changed, when some key is held at both levels.
  bool can_prepare(lock_holder holder) const;
  void hand_over_transaction(lock_holder from, lock_holder to);

  bool holds(lock_holder holder, lock_key key, lock_mode at_least) const;
  bool holds_session_lock(lock_holder holder, lock_key key) const;
  bool holds_anything(lock_holder holder) const;
  bool empty() const { return objects_.empty() && waits_.empty(); }

  /// What a backend does `deadlock_timeout` after it began to wait: a circle of holders only ends the wait
  /// with wait_result::deadlock; one that goes through a queue is resolved by moving somebody ahead in it
  /// (F7, F30).
  void check_deadlock(lock_holder holder);

  std::vector<lock_holder> holders(lock_key key) const;
  std::vector<lock_holder> waiters(lock_key key) const;
  std::optional<lock_mode> mode_held(lock_holder holder, lock_key key) const;
  std::optional<lock_mode> mode_wanted(lock_holder holder) const;

 private:
  using counts = std::map<lock_owner, unsigned>;
  struct waiter {
    lock_holder holder;
    lock_mode mode;
    lock_owner owner;
  };
  struct object {
    std::map<lock_holder, std::array<counts, 2>> granted;
    std::vector<waiter> queue;
  };
  struct wait {
    lock_key key;
    wait_result result;
  };

  static bool conflict(lock_mode a, lock_mode b) {
    return a == lock_mode::exclusive || b == lock_mode::exclusive;
  }
  static bool held(const std::array<counts, 2>& locks, lock_mode mode) {
    return !locks[static_cast<std::size_t>(mode)].empty();
  }
  static bool blocked_by_holders(const object& what, lock_holder holder, lock_mode mode);
  void grant(object& what, const waiter& who);
  void insert(object& what, const waiter& who);
  void wake(lock_key key);
  void drop(lock_key key, lock_holder holder, const std::function<bool(lock_owner)>& which);
  void drop_everywhere(lock_holder holder, const std::function<bool(lock_owner)>& which);
  std::vector<lock_holder> blockers(lock_holder holder, bool of_queue) const;
  bool in_circle(lock_holder start, bool through_queues) const;
  bool move_somebody_ahead(lock_holder holder);

  std::map<lock_key, object> objects_;
  std::map<lock_holder, wait> waits_;
};

} // namespace ledgergate::simulation
