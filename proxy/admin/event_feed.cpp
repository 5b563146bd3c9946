#include "proxy/admin/event_feed.hpp"

#include <boost/json/serialize.hpp>

namespace ledgergate::admin {

void event_feed::push(std::string_view name, const boost::json::object& data) {
  if (finished_ || dropped_) return;
  // Serialised JSON has no line breaks, so one data line holds it.
  std::string text = "event: " + std::string(name) + "\nid: " + std::to_string(++number_) +
                     "\ndata: " + boost::json::serialize(data) + "\n\n";
  if (waiting_.size() + text.size() > most_waiting_event_bytes) {
    dropped_ = true;
    waiting_.clear();
  } else {
    waiting_ += text;
  }
  tell();
}

void event_feed::finish() {
  finished_ = true;
  tell();
}

std::string event_feed::take() {
  std::string out;
  out.swap(waiting_);
  return out;
}

void event_feed::tell() const {
  // The listener may replace itself while it runs.
  const auto told = told_;
  if (told) told();
}

} // namespace ledgergate::admin
