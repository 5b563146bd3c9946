#include "proxy/observe/metrics.hpp"

#include <gmock/gmock.h>

namespace ledgergate::observe {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, SumsTheCountersOfAllWorkers) {
  metrics all;
  worker_counters& first = all.add_worker();
  worker_counters& second = all.add_worker();
  first.statements.touch.add(3);
  second.statements.touch.add(4);
  first.client_to_server_bytes.add(100);
  second.pins[static_cast<std::size_t>(gate::pin_shape::envelope)].add();
  const std::string text = all.render();
  EXPECT_THAT(text, HasSubstr("ledgergate_statements_total{verdict=\"touch\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_bytes_total{direction=\"client_to_server\"} 100\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_pins_total{shape=\"envelope\"} 1\n"));
}

TEST(Metrics, ShowsHistogramsCumulativeAndInSeconds) {
  metrics all;
  worker_counters& worker = all.add_worker();
  worker.pin_wait.observe(std::chrono::milliseconds(3));
  worker.pin_wait.observe(std::chrono::hours(1));
  const std::string text = all.render();
  EXPECT_THAT(text, HasSubstr("ledgergate_pin_wait_seconds_bucket{le=\"0.001\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_pin_wait_seconds_bucket{le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_pin_wait_seconds_bucket{le=\"60\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_pin_wait_seconds_bucket{le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_pin_wait_seconds_count 2\n"));
}

TEST(Metrics, LabelsFailuresAndReasons) {
  metrics all;
  all.add_worker().pin_failures.add("55P03");
  all.add_worker().pin_failures.add("55P03");
  all.add_worker().unparsed.add("syntax");
  const std::string text = all.render();
  EXPECT_THAT(text, HasSubstr("ledgergate_pin_failures_total{sqlstate=\"55P03\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_unparsed_total{reason=\"syntax\"} 1\n"));
}

TEST(Metrics, AsksForTheClientsAtEachScrape) {
  metrics all;
  std::size_t now = 1;
  all.set_clients([&] { return client_figures{now, 0, {{"completed", 9}}}; });
  EXPECT_THAT(all.render(), HasSubstr("ledgergate_clients 1\n"));
  now = 2;
  const std::string text = all.render();
  EXPECT_THAT(text, HasSubstr("ledgergate_clients 2\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_clients_total{result=\"completed\"} 9\n"));
}

TEST(Metrics, ShowsOneModeInForceAndNoneWhileItIsUnknown) {
  metrics all;
  all.set_mode({"shadow", "ledger"}, "ledger");
  EXPECT_THAT(all.render(), HasSubstr("ledgergate_mode{mode=\"ledger\"} 1\n"));
  EXPECT_THAT(all.render(), HasSubstr("ledgergate_mode{mode=\"shadow\"} 0\n"));
  all.set_mode({"shadow", "ledger"}, "");
  EXPECT_THAT(all.render(), Not(HasSubstr("} 1\n")));
}

TEST(Metrics, CountsTransitionsByResult) {
  metrics all;
  all.count_transition("committed");
  all.count_transition("committed");
  all.count_transition("aborted");
  all.observe_transition_hold(std::chrono::milliseconds(20));
  const std::string text = all.render();
  EXPECT_THAT(text, HasSubstr("ledgergate_transitions_total{result=\"committed\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_transitions_total{result=\"aborted\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ledgergate_transition_hold_seconds_bucket{le=\"0.025\"} 1\n"));
}

} // namespace
} // namespace ledgergate::observe
