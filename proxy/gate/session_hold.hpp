// The session-level holds of one session: what the proxy took and has to give back.
#pragma once

#include "proxy/gate/pin_messages.hpp"

namespace ledgergate::gate {

/// Advisory locks of a session are counted by the server, and so they are here: the client may take and
/// release the same key itself.
struct session_hold {
  unsigned shared = 0;    ///< granted to the proxy and not yet given back
  unsigned exclusive = 0; ///< gate and applier key together
  unsigned doubtful_shared =
      0; ///< an attempt failed, but the lock may have been granted just before (a late cancel)
  unsigned doubtful_exclusive = 0;
  unsigned releasing = 0;          ///< release calls in flight
  bool maybe_lost = false;         ///< the client ran something that drops session-level locks
  unsigned droppers_in_flight = 0; ///< such statements on their way: what was granted before them is in doubt

  bool any() const { return shared + exclusive + doubtful_shared + doubtful_exclusive > 0; }

  /// The stronger of what was taken, lost or not.
  pin_strength taken() const {
    if (exclusive > 0) return pin_strength::exclusive;
    return shared > 0 ? pin_strength::shared : pin_strength::none;
  }

  /// What can be relied on now.
  pin_strength strength() const {
    if (releasing > 0 || maybe_lost || droppers_in_flight > 0) return pin_strength::none;
    return taken();
  }

  void granted(pin_strength what) {
    maybe_lost = false;
    ++(what == pin_strength::exclusive ? exclusive : shared);
  }
  void doubtful(pin_strength what) {
    ++(what == pin_strength::exclusive ? doubtful_exclusive : doubtful_shared);
  }
};

} // namespace ledgergate::gate
