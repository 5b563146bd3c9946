#include "proxy/admin/live_feed.hpp"

#include <chrono>
#include <utility>

#include "proxy/admin/json_render.hpp"

namespace ledgergate::admin {

namespace json = boost::json;

namespace {

constexpr std::chrono::milliseconds calm{1000};
constexpr std::chrono::milliseconds busy{500};

/// A thousand that wait are one number; the page shows the oldest holders.
json::object render_oldest(transition::pin_snapshot pins) {
  const std::size_t held = pins.pins_held();
  const std::size_t waiting = pins.pins_waiting();
  if (pins.holders.size() > most_pins_shown) pins.holders.resize(most_pins_shown);
  pins.waiters.clear();
  json::object out = render_pins(pins);
  out["held"] = held;
  out["waiting"] = waiting;
  return out;
}

} // namespace

json::object status_now(const admin_backend& backend) {
  std::optional<transition::transition_record> last;
  for (transition::transition_record& record : backend.transitions()) {
    if (!record.is_final()) continue;
    last = std::move(record);
    break;
  }
  return render_status(backend.status(), backend.current_transition(), last, backend.now());
}

struct live_feed::state : std::enable_shared_from_this<state> {
  state(boost::asio::any_io_executor executor, admin_backend& asked) : backend(asked), timer(executor) {}

  admin_backend& backend;
  boost::asio::steady_timer timer;
  std::vector<std::weak_ptr<event_feed>> readers;
  bool ticking = false;
  bool over = false;

  /// Telling a reader may end it.
  std::vector<std::shared_ptr<event_feed>> living() {
    std::erase_if(readers, [](const auto& each) { return each.expired(); });
    std::vector<std::shared_ptr<event_feed>> all;
    for (const auto& each : readers) {
      if (auto feed = each.lock()) all.push_back(std::move(feed));
    }
    return all;
  }

  void tell(std::string_view name, const json::object& data) {
    for (const auto& feed : living())
      feed->push(name, data);
  }

  void tick() {
    ticking = !living().empty();
    if (!ticking) return;
    tell("status", status_now(backend));
    backend.pins([weak = weak_from_this()](const pins_answer& found) {
      const auto self = weak.lock();
      if (self == nullptr || self->over) return;
      self->tell("pins",
                 found.snapshot ? render_oldest(*found.snapshot) : json::object{{"error", found.error}});
    });
    timer.expires_after(backend.current_transition() ? busy : calm);
    timer.async_wait([weak = weak_from_this()](const boost::system::error_code& ec) {
      const auto self = weak.lock();
      if (!ec && self != nullptr && !self->over) self->tick();
    });
  }
};

live_feed::live_feed(boost::asio::any_io_executor executor, admin_backend& backend)
    : state_(std::make_shared<state>(std::move(executor), backend)) {}

live_feed::~live_feed() {
  state_->over = true;
  state_->timer.cancel();
}

std::shared_ptr<event_feed> live_feed::subscribe() {
  if (state_->living().size() >= most_live_feeds) return nullptr;
  auto feed = std::make_shared<event_feed>();
  feed->push("status", status_now(state_->backend));
  state_->readers.push_back(feed);
  // The first reader starts the clock; the others get their pins with its next turn.
  if (!state_->ticking) state_->tick();
  return feed;
}

void live_feed::transition_changed() {
  if (!state_->living().empty()) state_->tell("status", status_now(state_->backend));
}

} // namespace ledgergate::admin
