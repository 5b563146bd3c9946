// What the operator's page lives on: events named `status` (as GET /v1/status) and `pins` (as GET /v1/pins,
// the oldest holders only), once a second, twice while a transition runs, and at once when that changes.
// Nobody who looks, nothing asked. Admin thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "proxy/admin/admin_backend.hpp"
#include "proxy/admin/event_feed.hpp"

namespace ledgergate::admin {

/// A page has one feed; the connections of the admin port are few, and others want some of them too.
inline constexpr std::size_t most_live_feeds = 32;
inline constexpr std::size_t most_pins_shown = 20;

class live_feed {
 public:
  /// `backend` outlives it.
  live_feed(boost::asio::any_io_executor executor, admin_backend& backend);
  ~live_feed();
  live_feed(const live_feed&) = delete;
  live_feed& operator=(const live_feed&) = delete;

  /// A feed that begins with everything as it is, and has no end of its own. Null: most_live_feeds are there.
  std::shared_ptr<event_feed> subscribe();
  /// To be called for every change of any transition.
  void transition_changed();

 private:
  struct state;
  std::shared_ptr<state> state_; ///< a reading of pins may be answered when this is gone
};

/// GET /v1/status, as it is now.
boost::json::object status_now(const admin_backend& backend);

} // namespace ledgergate::admin
