// What the mention test costs: nanoseconds of CPU per statement of 300 bytes, with the names of a horde-like
// configuration, alone and with 10, 100 and 500 names of a catalog closure beside them. Prints one line per
// text; the aim is far below a microsecond. The last lines are what the closure's names would cost in the
// scanner that looks for the configured ones.
#include <algorithm>
#include <cstddef>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/sql/catalog_closure.hpp"
#include "proxy/sql/classifier.hpp"
#include "proxy/sql/mention_scan.hpp"

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

/// Names as schemas have them: a few prefixes, many endings.
std::vector<std::string> closure_names(std::size_t count) {
  const char* prefixes[] = {"jobs",   "model", "user",   "post",  "kudos",
                            "worker", "stat",  "report", "audit", "team"};
  const char* middles[] = {"list", "summary", "on_change", "detail", "totals", "by_day", "history", "rank"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(std::string(prefixes[i % 10]) + "_" + middles[i / 10 % 8] + "_" + std::to_string(i));
  return names;
}

std::shared_ptr<sql::catalog_closure> closure_of(std::size_t count) {
  auto closure = std::make_shared<sql::catalog_closure>();
  for (const std::string& name : closure_names(count)) {
    sql::closure_relation& relation = closure->relations.emplace_back();
    relation.schema = "public";
    relation.name = name;
    relation.on[0].touch = sql::touch_kind::touch;
  }
  return closure;
}

sql::mention_scanner one_scanner_for(std::size_t count) {
  std::vector<sql::mention_pattern> patterns;
  for (const std::string& name : closure_names(count))
    patterns.push_back({name, sql::mention_bounds::anywhere, 1});
  return sql::mention_scanner(std::move(patterns));
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
  for (const std::size_t count : {10, 100, 500}) {
    const sql::classifier with_closure(horde_settings(), closure_of(count));
    const std::string label = "mention test, closure of " + std::to_string(count) + " names";
    print(label.c_str(),
          nanoseconds_per_call(100'000, [&] { return with_closure.is_candidate(orm, context); }));
  }
  for (const std::size_t count : {10, 100, 500}) {
    const sql::mention_scanner packed = one_scanner_for(count);
    const std::string label = "  the same " + std::to_string(count) + " by packed search alone";
    print(label.c_str(), nanoseconds_per_call(20'000, [&] { return packed.find(orm); }));
  }
}
