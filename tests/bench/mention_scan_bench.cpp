// What the mention test costs: nanoseconds of CPU per statement of 300 bytes, with the names of a horde-like
// configuration. Prints one line per text; the aim is far below a microsecond.
#include <algorithm>
#include <cstddef>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <string>

#include "config/settings.hpp"
#include "proxy/sql/classifier.hpp"

namespace {

using namespace ledgergate;

config::settings horde_settings() {
  config::settings settings;
  for (const char* name :
       {"kudos_ledger", "kudos_stat_events", "kudos_reservations", "kudos_balance_snapshots"}) {
    settings.gate.tables.push_back({"", name, config::pin_on::any, {}});
  }
  for (const char* name : {"users", "user_stats", "user_records", "workers", "worker_stats", "teams"}) {
    settings.gate.tables.push_back({"", name, config::pin_on::lock, {}});
  }
  settings.gate.pin_before_locks = {0x4B554452};
  settings.control_row.table = "kudos_ledger_control";
  return settings;
}

double cpu_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// The best of several rounds: what the code costs when nothing disturbs it.
template <typename Call>
double nanoseconds_per_call(std::size_t calls, const Call& call) {
  double best = 1e12;
  for (int round = 0; round < 9; ++round) {
    const double start = cpu_nanoseconds();
    for (std::size_t i = 0; i < calls; ++i) {
      call();
      asm volatile("" ::: "memory");
    }
    best = std::min(best, (cpu_nanoseconds() - start) / static_cast<double>(calls));
  }
  return best;
}

std::string sized(std::string text) {
  while (text.size() < 300)
    text += " AND jobs.priority < 100";
  text.resize(300);
  return text;
}

} // namespace

int main() {
  const sql::classifier reader(horde_settings());
  const std::string orm = sized(
      "SELECT jobs.id AS jobs_id, jobs.prompt AS jobs_prompt, jobs.user_id AS jobs_user_id, jobs.created AS "
      "jobs_created, jobs.expiry AS jobs_expiry FROM jobs JOIN models ON models.job_id = jobs.id WHERE "
      "jobs.id = "
      "'d0a5e4c2-1111-2222-3333-444455556666' AND jobs.active = true");
  const std::string hit =
      sized("UPDATE kudos_ledger SET applied = true WHERE event_id = 'd0a5e4c2' AND amount > 1.25");
  const sql::reading_context context;
  const auto print = [](const char* what, double nanoseconds) {
    std::cout << std::left << std::setw(44) << what << std::right << std::fixed << std::setprecision(0)
              << std::setw(8) << nanoseconds << " ns\n";
  };
  const auto scan = [&](const std::string& text) {
    return [&] { return reader.is_candidate(text, context); };
  };
  const auto classify = [&](const std::string& text) {
    return [&] { return reader.classify(text, context).touch; };
  };
  print("mention test, 300 bytes, nothing mentioned", nanoseconds_per_call(100'000, scan(orm)));
  print("mention test, 300 bytes of one letter", nanoseconds_per_call(100'000, scan(std::string(300, 'q'))));
  print("verdict, 300 bytes, nothing mentioned", nanoseconds_per_call(100'000, classify(orm)));
  print("verdict, 300 bytes, a touch (parsed)", nanoseconds_per_call(5'000, classify(hit)));
}
