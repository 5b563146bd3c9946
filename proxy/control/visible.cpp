#include "proxy/control/visible.hpp"

#include <string>
#include <vector>

#include "proxy/observe/redaction.hpp"

namespace ledgergate::control {

namespace {

void redact(std::vector<transition::gate_lock>& locks, config::log_statements statements) {
  for (auto& lock : locks) {
    if (!lock.query) continue;
    lock.query = observe::redact_statement(*lock.query, statements);
    if (lock.query->empty()) lock.query.reset();
  }
}

} // namespace

transition::pin_snapshot visible(transition::pin_snapshot pins, config::log_statements statements) {
  redact(pins.holders, statements);
  redact(pins.waiters, statements);
  return pins;
}

transition::transition_record visible(transition::transition_record record,
                                      config::log_statements statements) {
  redact(record.blockers, statements);
  return record;
}

} // namespace ledgergate::control
