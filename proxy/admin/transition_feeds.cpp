#include "proxy/admin/transition_feeds.hpp"

#include <algorithm>

#include "proxy/admin/json_render.hpp"

namespace ledgergate::admin {

namespace {

void tell(event_feed& feed, const transition::transition_record& record, transition::wall_time now) {
  feed.push("transition", render_transition(record, now));
  if (record.is_final()) feed.finish();
}

} // namespace

std::shared_ptr<event_feed> transition_feeds::subscribe(const transition::transition_record& record,
                                                        transition::wall_time now) {
  auto feed = std::make_shared<event_feed>();
  tell(*feed, record, now);
  if (!feed->finished()) subscriptions_.push_back({record.id, feed});
  return feed;
}

void transition_feeds::publish(const transition::transition_record& record, transition::wall_time now) {
  std::erase_if(subscriptions_, [](const subscription& each) { return each.feed.expired(); });
  const auto watched = subscriptions_; // telling a reader may end it
  for (const subscription& each : watched) {
    if (each.id != record.id) continue;
    if (const auto feed = each.feed.lock(); feed && !feed->finished()) tell(*feed, record, now);
  }
}

std::size_t transition_feeds::readers() const {
  return static_cast<std::size_t>(
      std::count_if(subscriptions_.begin(), subscriptions_.end(),
                    [](const subscription& each) { return !each.feed.expired(); }));
}

} // namespace ledgergate::admin
