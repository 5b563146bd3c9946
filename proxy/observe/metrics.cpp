#include "proxy/observe/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <iterator>

#include "proxy/observe/worker_collector.hpp"

namespace ledgergate::observe {

namespace {

const prometheus::Histogram::BucketBoundaries transition_bounds{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                                0.5,   1,     2.5,  5,     10,   30,  60};

} // namespace

struct metrics::impl {
  prometheus::Registry registry;
  worker_collector workers;
  prometheus::Gauge& pins_held = gauge("ledgergate_pins_held", "Holders of the shared gate lock.");
  prometheus::Gauge& pins_waiting = gauge("ledgergate_pins_waiting", "Waiters for the shared gate lock.");
  prometheus::Family<prometheus::Gauge>& mode =
      prometheus::BuildGauge().Name("ledgergate_mode").Help("1 for the mode in force.").Register(registry);
  prometheus::Family<prometheus::Gauge>& gate_mode = prometheus::BuildGauge()
                                                         .Name("ledgergate_gate_mode")
                                                         .Help("1 for what this sidecar does: gate.mode.")
                                                         .Register(registry);
  prometheus::Family<prometheus::Gauge>& build = prometheus::BuildGauge()
                                                     .Name("ledgergate_build_info")
                                                     .Help("Version and commit of this sidecar.")
                                                     .Register(registry);
  prometheus::Gauge& control_connected =
      gauge("ledgergate_control_connected", "1 while the control connections are up.");
  prometheus::Gauge& oldest_pin = gauge("ledgergate_oldest_pin_seconds", "Age of the oldest pin.");
  prometheus::Gauge& running_transition =
      gauge("ledgergate_transition_running_seconds", "How long this sidecar's transition has been running.");
  prometheus::Family<prometheus::Counter>& transitions = prometheus::BuildCounter()
                                                             .Name("ledgergate_transitions_total")
                                                             .Help("Transitions by result.")
                                                             .Register(registry);
  prometheus::Histogram& queue =
      histogram("ledgergate_transition_queue_seconds",
                "Time a transition spent in the gate's queue, over all its attempts.");
  prometheus::Histogram& hold =
      histogram("ledgergate_transition_hold_seconds", "Time from a transition's grant to its commit.");
  prometheus::Family<prometheus::Gauge>& catalog_age = prometheus::BuildGauge()
                                                           .Name("ledgergate_catalog_age_seconds")
                                                           .Help("Age of what is known about the catalog.")
                                                           .Register(registry);
  prometheus::Gauge& catalog_names = gauge("ledgergate_catalog_names", "Names that are gated.");
  prometheus::Gauge& catalog_unseen =
      gauge("ledgergate_catalog_unseen", "Objects that may lead to the ledger and cannot be looked into.");
  prometheus::Counter& catalog_late =
      prometheus::BuildCounter()
          .Name("ledgergate_catalog_late_total")
          .Help("Clients that went on behind a definition before the catalog was read.")
          .Register(registry)
          .Add({});
  prometheus::Gauge& catalog_failures =
      gauge("ledgergate_catalog_failures", "Readings of the catalog that failed since the start.");

  prometheus::Gauge& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
  }
  prometheus::Histogram& histogram(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, transition_bounds);
  }
};

metrics::metrics() : impl_(std::make_unique<impl>()) {
  // From the start, so that the first of a kind is an increase and not the beginning of a series.
  for (const char* result : {"committed", "aborted", "unknown", "rehearsed"})
    impl_->transitions.Add({{"result", result}});
}
metrics::~metrics() = default;

worker_counters& metrics::add_worker() { return impl_->workers.add_worker(); }

void metrics::set_clients(std::function<client_figures()> source) {
  impl_->workers.set_clients(std::move(source));
}

void metrics::set_pins(std::size_t held, std::size_t waiting) {
  impl_->pins_held.Set(static_cast<double>(held));
  impl_->pins_waiting.Set(static_cast<double>(waiting));
}

void metrics::set_mode(const std::vector<std::string>& modes, const std::string& in_force) {
  for (const std::string& each : modes)
    impl_->mode.Add({{"mode", each}}).Set(each == in_force ? 1 : 0);
}

void metrics::set_gate_mode(const std::string& in_force) {
  for (const char* each : {"enforce", "observe", "off"})
    impl_->gate_mode.Add({{"mode", each}}).Set(each == in_force ? 1 : 0);
}

void metrics::set_build(const std::string& version, const std::string& commit) {
  impl_->build.Add({{"version", version}, {"commit", commit}}).Set(1);
}

void metrics::set_control(bool connected, std::chrono::duration<double> oldest_pin,
                          std::chrono::duration<double> running_transition) {
  impl_->control_connected.Set(connected ? 1 : 0);
  impl_->oldest_pin.Set(oldest_pin.count());
  impl_->running_transition.Set(running_transition.count());
}

void metrics::count_transition(const std::string& result) {
  impl_->transitions.Add({{"result", result}}).Increment();
}

void metrics::observe_transition_queue(std::chrono::duration<double> value) {
  impl_->queue.Observe(value.count());
}

void metrics::observe_transition_hold(std::chrono::duration<double> value) {
  impl_->hold.Observe(value.count());
}

void metrics::set_catalog_age(std::chrono::duration<double> value) {
  impl_->catalog_age.Add({}).Set(value.count());
}

void metrics::set_catalog_size(std::size_t gated, std::size_t unseen) {
  impl_->catalog_names.Set(static_cast<double>(gated));
  impl_->catalog_unseen.Set(static_cast<double>(unseen));
}

void metrics::count_catalog_late() { impl_->catalog_late.Increment(); }

void metrics::set_catalog_failures(std::uint64_t count) {
  impl_->catalog_failures.Set(static_cast<double>(count));
}

std::string metrics::render() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  std::vector<prometheus::MetricFamily> of_workers = impl_->workers.Collect();
  families.insert(families.end(), std::make_move_iterator(of_workers.begin()),
                  std::make_move_iterator(of_workers.end()));
  return prometheus::TextSerializer().Serialize(families);
}

} // namespace ledgergate::observe
