#include "proxy/control/visible.hpp"

#include <string>
#include <vector>

#include "proxy/observe/redaction.hpp"

namespace ledgergate::control {

namespace {

void redact(transition::gate_lock& lock, config::log_statements statements) {
  if (!lock.query) return;
  lock.query = observe::redact_statement(*lock.query, statements);
  if (lock.query->empty()) lock.query.reset();
}

void redact(std::vector<transition::gate_lock>& locks, config::log_statements statements) {
  for (auto& lock : locks)
    redact(lock, statements);
}

} // namespace

transition::gate_lock visible(transition::gate_lock lock, config::log_statements statements) {
  redact(lock, statements);
  return lock;
}

transition::pin_snapshot visible(transition::pin_snapshot pins, config::log_statements statements) {
  redact(pins.holders, statements);
  redact(pins.waiters, statements);
  return pins;
}

transition::transition_record visible(transition::transition_record record,
                                      config::log_statements statements) {
  redact(record.blockers, statements);
  for (auto& eviction : record.evictions)
    redact(eviction.holder, statements);
  return record;
}

} // namespace ledgergate::control
