#include "proxy/observe/worker_collector.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace ledgergate::observe {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using worker_list = std::deque<worker_counters>;

ClientMetric counter_value(const char* label, const std::string& label_value, std::uint64_t value) {
  ClientMetric metric;
  if (label != nullptr) metric.label.push_back({label, label_value});
  metric.counter.value = static_cast<double>(value);
  return metric;
}

MetricFamily family(const char* name, const char* help, MetricType type) {
  MetricFamily made;
  made.name = name;
  made.help = help;
  made.type = type;
  return made;
}

template <typename Member>
std::uint64_t sum(const worker_list& workers, Member counter_of) {
  std::uint64_t total = 0;
  for (const worker_counters& each : workers)
    total += counter_of(each).get();
  return total;
}

MetricFamily statements(const worker_list& workers) {
  MetricFamily made =
      family("ledgergate_statements_total", "Statements of gated sessions by what the gate thinks of them.",
             MetricType::Counter);
  const auto add = [&](const char* verdict, auto member) {
    made.metric.push_back(counter_value("verdict", verdict, sum(workers, member)));
  };
  add(
      "none", [](const worker_counters& w) -> const auto& { return w.statements.none; });
  add(
      "touch", [](const worker_counters& w) -> const auto& { return w.statements.touch; });
  add(
      "transition", [](const worker_counters& w) -> const auto& { return w.statements.transition; });
  return made;
}

MetricFamily pins(const worker_list& workers) {
  MetricFamily made =
      family("ledgergate_pins_total", "Pins put on the wire, by how they travelled.", MetricType::Counter);
  for (std::size_t i = 0; i < gate::pin_shape_count; ++i) {
    const auto member = [i](const worker_counters& w) -> const auto& { return w.pins[i]; };
    made.metric.push_back(
        counter_value("shape", to_string(static_cast<gate::pin_shape>(i)), sum(workers, member)));
  }
  return made;
}

MetricFamily bytes(const worker_list& workers) {
  MetricFamily made = family("ledgergate_bytes_total", "Bytes relayed, by direction.", MetricType::Counter);
  made.metric.push_back(counter_value(
      "direction", "client_to_server",
      sum(
          workers, [](const worker_counters& w) -> const auto& { return w.client_to_server_bytes; })));
  made.metric.push_back(counter_value(
      "direction", "server_to_client",
      sum(
          workers, [](const worker_counters& w) -> const auto& { return w.server_to_client_bytes; })));
  return made;
}

template <typename Member>
MetricFamily labelled(const char* name, const char* help, const char* label, const worker_list& workers,
                      Member member) {
  MetricFamily made = family(name, help, MetricType::Counter);
  std::map<std::string, std::uint64_t> totals;
  for (const worker_counters& each : workers) {
    for (const auto& [value, count] : member(each).get())
      totals[value] += count;
  }
  for (const auto& [value, count] : totals)
    made.metric.push_back(counter_value(label, value, count));
  return made;
}

template <typename Member>
MetricFamily single(const char* name, const char* help, const worker_list& workers, Member member) {
  MetricFamily made = family(name, help, MetricType::Counter);
  made.metric.push_back(counter_value(nullptr, {}, sum(workers, member)));
  return made;
}

template <typename Member>
MetricFamily histogram(const char* name, const char* help, const worker_list& workers, Member member) {
  MetricFamily made = family(name, help, MetricType::Histogram);
  ClientMetric metric;
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i <= latency_histogram::bounds.size(); ++i) {
    for (const worker_counters& each : workers)
      cumulative += member(each).in_bucket(i);
    const bool last = i == latency_histogram::bounds.size();
    const double bound = last ? std::numeric_limits<double>::infinity()
                              : std::chrono::duration<double>(latency_histogram::bounds[i]).count();
    metric.histogram.bucket.push_back({cumulative, bound});
  }
  metric.histogram.sample_count = cumulative;
  for (const worker_counters& each : workers) {
    metric.histogram.sample_sum += std::chrono::duration<double>(member(each).sum()).count();
  }
  made.metric.push_back(std::move(metric));
  return made;
}

void add_clients(const client_figures& figures, std::vector<MetricFamily>& out) {
  MetricFamily now = family("ledgergate_clients", "Client sessions now.", MetricType::Gauge);
  ClientMetric gauge;
  gauge.gauge.value = static_cast<double>(figures.now);
  now.metric.push_back(std::move(gauge));
  out.push_back(std::move(now));
  MetricFamily total =
      family("ledgergate_clients_total", "Client connections by how they ended.", MetricType::Counter);
  for (const auto& [result, count] : figures.ended)
    total.metric.push_back(counter_value("result", result, count));
  out.push_back(std::move(total));
  MetricFamily ungated =
      family("ledgergate_ungated_sessions_total",
             "Sessions relayed without the gate: another database, or gate.mode off.", MetricType::Counter);
  ungated.metric.push_back(counter_value(nullptr, {}, figures.ungated));
  out.push_back(std::move(ungated));
}

} // namespace

worker_counters& worker_collector::add_worker() {
  const std::lock_guard lock(mutex_);
  return workers_.emplace_back();
}

void worker_collector::set_clients(std::function<client_figures()> source) {
  const std::lock_guard lock(mutex_);
  clients_ = std::move(source);
}

std::vector<MetricFamily> worker_collector::Collect() const {
  const std::lock_guard lock(mutex_);
  std::vector<MetricFamily> out;
  out.push_back(statements(workers_));
  out.push_back(pins(workers_));
  out.push_back(bytes(workers_));
  out.push_back(histogram(
      "ledgergate_pin_wait_seconds", "Time between a pin's injection and its reply.", workers_,
      [](const worker_counters& w) -> const auto& { return w.pin_wait; }));
  out.push_back(histogram(
      "ledgergate_added_latency_seconds",
      "The proxy's own share: from the receive of a burst to the end of its send, sampled.", workers_,
      [](const worker_counters& w) -> const auto& { return w.added_latency; }));
  out.push_back(labelled(
      "ledgergate_pin_failures_total", "Pins that the server refused.", "sqlstate", workers_,
      [](const worker_counters& w) -> const auto& { return w.pin_failures; }));
  out.push_back(labelled(
      "ledgergate_unparsed_total", "Texts that were pinned because they could not be read.", "reason",
      workers_, [](const worker_counters& w) -> const auto& { return w.unparsed; }));
  out.push_back(labelled(
      "ledgergate_refused_total", "Statements that cannot be pinned and were refused.", "reason", workers_,
      [](const worker_counters& w) -> const auto& { return w.refused; }));
  out.push_back(single(
      "ledgergate_upgrades_total", "Pinned transactions that became transitions.", workers_,
      [](const worker_counters& w) -> const auto& { return w.upgrades; }));
  out.push_back(single(
      "ledgergate_stale_snapshots_total",
      "Touches refused with 40001: their snapshot was older than the last transition.", workers_,
      [](const worker_counters& w) -> const auto& { return w.stale; }));
  out.push_back(single(
      "ledgergate_denied_total", "In-band transitions refused by policy.", workers_,
      [](const worker_counters& w) -> const auto& { return w.denied; }));
  out.push_back(single(
      "ledgergate_abandoned_total", "Sessions cancelled on the server because their client went away.",
      workers_, [](const worker_counters& w) -> const auto& { return w.abandoned; }));
  if (clients_) add_clients(clients_(), out);
  return out;
}

} // namespace ledgergate::observe
