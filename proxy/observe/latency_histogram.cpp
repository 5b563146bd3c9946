#include "proxy/observe/latency_histogram.hpp"

#include <algorithm>

namespace ledgergate::observe {

void latency_histogram::observe(std::chrono::nanoseconds value) {
  const auto at = std::lower_bound(bounds.begin(), bounds.end(), value);
  buckets_[static_cast<std::size_t>(at - bounds.begin())].add();
  sum_nanoseconds_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0)));
}

} // namespace ledgergate::observe
