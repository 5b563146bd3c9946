// Server-sent events on their way to one reader (HTML standard, section 9.2). Bounded: a reader that does not
// keep up is dropped, it never makes the sidecar grow. Admin thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

namespace ledgergate::admin {

/// Waiting text beyond this drops the reader. A transition's event has a few kilobytes.
inline constexpr std::size_t most_waiting_event_bytes = 512 * 1024;

class event_feed {
 public:
  /// Ignored once it is finished or dropped.
  void push(std::string_view name, const boost::json::object& data);
  /// Nothing more will come: the reader is told the rest, then closed.
  void finish();

  /// All that waits, and nothing waits any more.
  std::string take();
  bool finished() const { return finished_; }
  /// It did not keep up: close it without another word.
  bool dropped() const { return dropped_; }
  /// Called after push() and finish(). One listener.
  void on_news(std::function<void()> told) { told_ = std::move(told); }

 private:
  void tell() const;

  std::string waiting_;
  std::size_t number_ = 0; ///< `id:` of the last event
  bool finished_ = false;
  bool dropped_ = false;
  std::function<void()> told_;
};

} // namespace ledgergate::admin
