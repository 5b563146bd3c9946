#include "proxy/transition/record_book.hpp"

#include <algorithm>
#include <utility>

namespace ledgergate::transition {

namespace {

elapsed between(time_point from, time_point to) { return std::chrono::duration_cast<elapsed>(to - from); }

} // namespace

record_book::record_book(const config::transition_settings& settings, std::string id,
                         transition_request request, time_point now, wall_time started_at)
    : started_(now), state_started_(now), attempt_started_(now) {
  record_.id = std::move(id);
  record_.to = request.to;
  record_.started_at = started_at;
  record_.state_since = started_at;
  record_.deadline_at = started_at + request.deadline.value_or(settings.deadline);
  record_.queue_budget = request.queue_budget.value_or(settings.queue_budget);
  record_.hold_budget = settings.hold_budget;
  record_.request = std::move(request);
}

wall_time record_book::wall(time_point now) const {
  return record_.started_at + std::chrono::duration_cast<wall_time::duration>(now - started_);
}

void record_book::book(transition_record& record, time_point now) const {
  const auto spent = between(state_started_, now);
  switch (record.state) {
  case transition_state::waiting_applier: record.timings.applier_wait += spent; break;
  case transition_state::waiting_quiet: record.timings.quiet_wait += spent; break;
  case transition_state::holding: record.timings.hold += spent; break;
  case transition_state::planned:
  case transition_state::queued: // booked with its attempt
  case transition_state::committed:
  case transition_state::aborted:
  case transition_state::unknown: break;
  }
  if (!record.is_final()) record.timings.total = between(started_, now);
}

void record_book::enter(transition_state state, std::string message, time_point now) {
  book(record_, now);
  record_.message = std::move(message);
  state_started_ = now;
  if (record_.state != state) record_.state_since = wall(now);
  record_.state = state;
  if (record_.is_final()) {
    record_.finished_at = wall(now);
    record_.blockers.clear();
    record_.pins_waiting = 0;
  }
}

void record_book::start_attempt(time_point now) {
  attempt entry;
  entry.queued_at = wall(now);
  record_.attempts.push_back(std::move(entry));
  attempt_started_ = now;
  attempt_open_ = true;
}

void record_book::end_attempt(attempt_outcome outcome, std::optional<server_error> error, time_point now) {
  if (!attempt_open_) return;
  attempt_open_ = false;
  auto& last = record_.attempts.back();
  last.queue_wait = between(attempt_started_, now);
  last.outcome = outcome;
  last.error = std::move(error);
  record_.timings.queue_wait += last.queue_wait;
}

void record_book::fail_granted_attempt(attempt_outcome outcome, const server_error& error) {
  if (record_.attempts.empty()) return;
  record_.attempts.back().outcome = outcome;
  record_.attempts.back().error = error;
}

bool record_book::last_attempt_was(attempt_outcome outcome) const {
  return !record_.attempts.empty() && record_.attempts.back().outcome == outcome;
}

void record_book::observe(const pin_snapshot& pins, std::int32_t own_pid) {
  record_.blockers.clear();
  for (const auto& lock : pins.holders) {
    if (lock.pid != own_pid) record_.blockers.push_back(lock);
  }
  record_.pins_waiting = pins.pins_waiting();
  if (attempt_open_) {
    auto& most = record_.attempts.back().pins_waiting_max;
    most = std::max(most, record_.pins_waiting);
  }
  // A pin waits because of this transition only while it queues or holds.
  if (record_.state == transition_state::queued || record_.state == transition_state::holding) {
    writer_waited(pins.longest_pin_wait());
  }
}

void record_book::writer_waited(elapsed wait) {
  record_.timings.max_writer_wait = std::max(record_.timings.max_writer_wait, wait);
}

transition_record record_book::snapshot(time_point now) const {
  transition_record copy = record_;
  book(copy, now);
  if (attempt_open_) {
    auto& last = copy.attempts.back();
    last.queue_wait = between(attempt_started_, now);
    copy.timings.queue_wait += last.queue_wait;
  }
  return copy;
}

std::string describe_blockers(const transition_record& record) {
  if (record.blockers.empty()) return {};
  const auto& oldest = record.blockers.front();
  std::string text = oldest.pid ? "pid " + std::to_string(*oldest.pid)
                                : "prepared transaction " + oldest.prepared_gid.value_or("?");
  if (oldest.application && !oldest.application->empty()) text += " (" + *oldest.application + ")";
  if (oldest.state) text += ", " + *oldest.state;
  if (const auto age = oldest.age()) {
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(*age).count();
    text += ", for " + std::to_string(milliseconds) + " ms";
  }
  if (record.blockers.size() > 1) text += ", and " + std::to_string(record.blockers.size() - 1) + " more";
  return text;
}

} // namespace ledgergate::transition
