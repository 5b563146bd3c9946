// Keeps one transition_record and its clocks: every state change goes through enter(), which books the time
// spent.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/transition/transition_record.hpp"

namespace ledgergate::transition {

/// Monotonic moments, passed in as values.
using time_point = std::chrono::steady_clock::time_point;

class record_book {
 public:
  /// `now` and `started_at` are the same moment on the monotonic and on the wall clock.
  record_book(const config::transition_settings& settings, std::string id, transition_request request,
              time_point now, wall_time started_at);

  /// The fields that nobody but the engine decides: message, error, reason, from, versions, changed.
  transition_record& record() { return record_; }
  const transition_record& record() const { return record_; }

  /// Books the time spent in the current state, then changes it. Final states set finished_at and drop the
  /// blockers.
  void enter(transition_state state, std::string message, time_point now);

  /// From here on the time in `queued` belongs to a new attempt.
  void start_attempt(time_point now);
  /// Books the wait of the open attempt. No attempt open: does nothing.
  void end_attempt(attempt_outcome outcome, std::optional<server_error> error, time_point now);
  /// The last attempt had the gate and lost it again.
  void fail_granted_attempt(attempt_outcome outcome, const server_error& error);
  bool last_attempt_was(attempt_outcome outcome) const;

  /// Blockers are all holders but the transition's own backend.
  void observe(const pin_snapshot& pins, std::int32_t own_pid);
  void writer_waited(elapsed wait);

  /// The record with the current state's time booked up to `now`.
  transition_record snapshot(time_point now) const;
  wall_time wall(time_point now) const;

 private:
  void book(transition_record& record, time_point now) const;

  transition_record record_;
  time_point started_;
  time_point state_started_;
  time_point attempt_started_;
  bool attempt_open_ = false;
};

/// One clause that says who holds the gate, for messages; empty when nobody does.
std::string describe_blockers(const transition_record& record);

} // namespace ledgergate::transition
