// Who watches which transition by server-sent events. Admin thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/admin/event_feed.hpp"
#include "proxy/transition/transition_record.hpp"

namespace ledgergate::admin {

class transition_feeds {
 public:
  /// A feed that begins with the state as it is and ends with the final one. It lives as long as its reader
  /// keeps it.
  std::shared_ptr<event_feed> subscribe(const transition::transition_record& record,
                                        transition::wall_time now);
  /// To be called for every change of any transition.
  void publish(const transition::transition_record& record, transition::wall_time now);

  std::size_t readers() const;

 private:
  struct subscription {
    std::string id;
    std::weak_ptr<event_feed> feed;
  };

  std::vector<subscription> subscriptions_;
};

} // namespace ledgergate::admin
