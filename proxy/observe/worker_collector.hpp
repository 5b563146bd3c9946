// The workers' counters as Prometheus metrics, summed when somebody scrapes.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "proxy/observe/metrics.hpp"
#include "proxy/observe/worker_counters.hpp"

namespace ledgergate::observe {

class worker_collector final : public prometheus::Collectable {
 public:
  worker_counters& add_worker();
  void set_clients(std::function<client_figures()> source);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  mutable std::mutex mutex_;
  std::deque<worker_counters> workers_; ///< a deque: a worker keeps a reference to its element
  std::function<client_figures()> clients_;
};

} // namespace ledgergate::observe
