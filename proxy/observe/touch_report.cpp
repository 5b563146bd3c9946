#include "proxy/observe/touch_report.hpp"

#include <algorithm>
#include <utility>

#include "proxy/observe/redaction.hpp"

namespace ledgergate::observe {

touch_report::id touch_report::add(observed_statement seen) {
  seen.statement = redact_statement(seen.statement, config::log_statements::redacted);
  const std::lock_guard lock(mutex_);
  std::tuple key{seen.user, seen.application, seen.statement};
  const auto found = known_.find(key);
  if (found == known_.end() && statements_.size() >= max_statements) {
    ++left_out_;
    return left_out;
  }
  const id which = found == known_.end() ? statements_.size() : found->second;
  if (found == known_.end()) {
    known_.emplace(std::move(key), which);
    statements_.push_back(std::move(seen));
  }
  ++statements_[which].executions;
  return which;
}

void touch_report::over(id which, std::chrono::microseconds lasted) {
  const std::lock_guard lock(mutex_);
  if (which >= statements_.size()) return;
  observed_statement& statement = statements_[which];
  ++statement.pins;
  statement.pinned += lasted;
  statement.longest = std::max(statement.longest, lasted);
}

touch_report::snapshot touch_report::get() const {
  const std::lock_guard lock(mutex_);
  snapshot out{statements_, left_out_};
  std::stable_sort(out.statements.begin(), out.statements.end(),
                   [](const auto& left, const auto& right) { return left.pinned > right.pinned; });
  return out;
}

} // namespace ledgergate::observe
