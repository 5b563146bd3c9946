// The log: one line per event on standard error, as text or JSON. Thread-safe. spdlog is not seen outside
// log.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "config/settings.hpp"

namespace ledgergate::observe {

/// May be called again (reload).
void set_up_log(const config::log_settings&);

/// Ask before building a line on a path that is taken often.
bool logs(config::log_level);
void log(config::log_level, const std::string& line);

/// Keeps a flood of one kind of event from filling the log: a number of lines per window, then silence until
/// the window is over; the next line says how many were left out. One object per kind of event.
class log_throttle {
 public:
  using clock = std::chrono::steady_clock;

  explicit log_throttle(unsigned lines = 10, clock::duration window = std::chrono::seconds(10))
      : lines_(lines), window_(window) {}

  struct verdict {
    bool allowed = false;
    std::uint64_t left_out = 0; ///< lines suppressed since the last one that was allowed
  };
  verdict ask(clock::time_point now);

  /// log(), unless too many were written lately.
  void log(config::log_level, const std::string& line);

 private:
  const unsigned lines_;
  const clock::duration window_;
  std::mutex mutex_;
  clock::time_point window_began_{};
  unsigned written_ = 0;
  std::uint64_t left_out_ = 0;
};

} // namespace ledgergate::observe
