#include "tests/simulation/world.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "protocol/wire.hpp"
#include "tests/simulation/connection.hpp"

namespace ledgergate::simulation {

namespace {

/// How a run of this seed is made.
struct plan {
  std::size_t clients = 3;
  std::size_t sessions = 8;
  bool transitions = true;
  bool losses = true; ///< clients that go away, cancels, backends that are ended, a server that restarts
  bool unanswered_questions = false;
};

plan make_plan(random_source& chance, const run_options& options) {
  plan out;
  if (options.script != nullptr) {
    out.clients = out.sessions = 1;
    out.transitions = options.script_transitions;
    out.losses = false;
    return out;
  }
  out.clients = chance.between(1, 5);
  out.sessions = out.clients + chance.below(8);
  out.transitions = !chance.one_in(4);
  out.losses = chance.one_in(2);
  out.unanswered_questions = chance.one_in(6);
  return out;
}

std::shared_ptr<config::settings> make_settings(random_source& chance, breakage broken) {
  auto settings = std::make_shared<config::settings>();
  settings->gate.lock_key = broken == breakage::wrong_key ? gate_key + 99 : gate_key;
  settings->gate.applier_lock_key = applier_key;
  settings->gate.tables = {{"", "led", config::pin_on::any, {}}};
  settings->gate.functions = {"touch_led"};
  if (broken == breakage::observes_only) settings->gate.mode = config::gate_mode::observe;
  settings->gate.in_band_transitions =
      chance.one_in(4) ? config::in_band_policy::deny : config::in_band_policy::exclusive;
  settings->control_row.table = "ledger_control";
  settings->control_row.where = "id = 1";
  settings->modes = {"shadow", "ledger"};
  settings->transitions.deadline = std::chrono::milliseconds(chance.between(200, 5000));
  settings->transitions.queue_budget = std::chrono::milliseconds(chance.between(10, 500));
  settings->transitions.guards["ledger"] = {"SELECT true"};
  settings->transitions.steps["ledger"] = {"UPDATE accounts SET b = 2 WHERE account = 1"};
  settings->transitions.steps["shadow"] = {"UPDATE accounts SET b = 2 WHERE account = 2"};
  return settings;
}

gate::rule_switch made_without(std::optional<gate::gate_rule> left_out) {
  gate::rule_switch out;
  if (left_out) out.leave_out(*left_out);
  return out;
}

class world {
 public:
  explicit world(const run_options& options)
      : options_(options), chance_(options.seed), plan_(make_plan(chance_, options)),
        settings_(make_settings(chance_, options.broken)), rule_switch_(made_without(options.left_out)),
        rules_(gate::make_gate_rules(*settings_, rule_switch_)), witness_(database_),
        operator_(database_, witness_, chance_, settings_, [this] { return ++last_backend_; }) {}

  run_result run() {
    constexpr std::size_t most_steps = 60000;
    constexpr std::size_t calm_after = 20000;
    while (result_.steps < most_steps && witness_.violations().empty()) {
      ++result_.steps;
      if (result_.steps == calm_after) begin_calm();
      open_sessions();
      if (calm_ || chance_.one_in(300)) finish_prepared();
      if (!calm_ && opened_ >= plan_.sessions && connections_.size() < plan_.clients) begin_calm();
      if (calm_ && connections_.empty() && !operator_.busy()) break;
      if (!step()) break;
    }
    finish();
    return std::move(result_);
  }

 private:
  void note(const std::string& line) {
    if (options_.trace) result_.trace.push_back(std::to_string(database_.now) + "us " + line);
  }

  void begin_calm() {
    calm_ = true;
    note("calm");
    for (const auto& each : connections_)
      each->client.come_to_an_end();
  }

  /// Somebody comes by and rolls back what clients left prepared.
  void finish_prepared() {
    while (!database_.prepared.empty()) {
      const prepared_transaction kept = database_.prepared.begin()->second;
      database_.prepared.erase(database_.prepared.begin());
      database_.running.erase(kept.transaction);
      witness_.transaction_over(kept.holder);
      database_.locks.end_transaction(kept.holder);
    }
  }

  void open_sessions() {
    while (!calm_ && opened_ < plan_.sessions && connections_.size() < plan_.clients) {
      ++opened_;
      ++result_.sessions;
      connections_.push_back(std::make_unique<connection>(database_, witness_, chance_, rules_,
                                                          options_.broken, ++last_backend_, random_habits()));
      connection& made = *connections_.back();
      if (plan_.losses && chance_.one_in(3)) made.server.settings["lock_timeout"] = "100";
      made.read_catalog = [this] { read_catalog(); };
      if (options_.trace) made.on_trace = [this](const std::string& line) { note(line); };
    }
  }

  /// As the control connection does: a new reading of the catalog, and rules made from it for everybody.
  void read_catalog() {
    config::settings settings = *settings_;
    for (const auto& [view, leads] : database_.views)
      if (leads) settings.gate.tables.push_back({"", view, config::pin_on::any, {}});
    rules_ = gate::make_gate_rules(settings, rule_switch_, nullptr, ++generation_);
    for (const auto& each : connections_)
      each->proxy.use_rules(rules_);
  }

  model_client::habits random_habits() {
    model_client::habits how;
    how.script = options_.script;
    how.everything = options_.everything;
    how.default_level = options_.script_level;
    if (how.script != nullptr) return how;
    how.turns = static_cast<unsigned>(chance_.between(3, 25));
    how.pipelines = chance_.one_in(3);
    how.default_level = chance_.one_in(6) ? "repeatable read" : "read committed";
    return how;
  }

  /// One thing that can happen, chosen among all that can. False when nothing can, ever.
  bool step() {
    moves_.clear();
    for (const auto& each : connections_)
      each->add_moves(moves_);
    if (operator_.can_move()) moves_.emplace_back([this] { operator_.move(); });
    add_nemesis();
    const auto next = next_moment();
    const bool wait = next && (moves_.empty() || chance_.one_in(calm_ ? 40 : 400));
    if (moves_.empty() && !wait) {
      if (!database_.prepared.empty()) {
        finish_prepared();
        return true;
      }
      report_stuck();
      return false;
    }
    if (wait) {
      database_.now = std::max(database_.now, *next);
      for (const auto& each : connections_)
        each->time();
      operator_.time();
    } else {
      database_.now += static_cast<virtual_time>(chance_.below(200));
      moves_[chance_.below(moves_.size())]();
    }
    settle();
    return true;
  }

  std::optional<virtual_time> next_moment() const {
    std::optional<virtual_time> out = operator_.next_moment();
    for (const auto& each : connections_) {
      const auto at = each->next_moment();
      if (at && (!out || *at < *out)) out = at;
    }
    return out;
  }

  void add_nemesis() {
    if (calm_) return;
    if (plan_.transitions && !operator_.busy() && chance_.one_in(60)) {
      moves_.emplace_back([this] {
        note("an operator asks for a transition");
        operator_.begin(database_.mode == "ledger" ? "shadow" : "ledger");
      });
    }
    if (chance_.one_in(500)) moves_.emplace_back([this] { read_catalog(); });
    if (!plan_.losses || !chance_.one_in(150) || connections_.empty()) return;
    const std::size_t kind = chance_.below(20);
    connection& victim = *connections_[chance_.below(connections_.size())];
    if (kind < 9) {
      moves_.emplace_back([this, &victim] {
        note("cancel " + victim.name());
        victim.server.cancel();
      });
    } else if (kind < 14) {
      moves_.emplace_back([this, &victim] {
        note("client of " + victim.name() + " is gone");
        victim.lose_client();
      });
    } else if (kind < 16) {
      moves_.emplace_back([this, &victim] {
        note("kill " + victim.name());
        victim.server.terminate();
      });
    } else if (kind < 18) {
      moves_.emplace_back([this] { operator_.cancel_backend(); });
    } else if (kind < 19) {
      moves_.emplace_back([this] { operator_.lose_backend(); });
    } else {
      moves_.emplace_back([this] {
        note("the server restarts");
        operator_.lose_backend();
        for (const auto& each : connections_)
          each->server.terminate();
      });
    }
  }

  /// After every step: what a session that is at rest still holds, and sessions that are over.
  void settle() {
    for (const auto& each : connections_) {
      if (auto found = each->check()) witness_.report(each->name() + ": " + *found);
    }
    if (!witness_.violations().empty()) return;
    std::erase_if(connections_, [this](const auto& each) {
      if (!each->over()) return false;
      if (each->compared_to_the_end()) ++result_.compared_to_the_end;
      note(each->name() + " is over");
      return true;
    });
  }

  void report_stuck() {
    std::string text = "liveness: nothing can happen any more;";
    for (const auto& each : connections_)
      text += " " + each->describe() + ";";
    witness_.report(text + " " + operator_.describe());
  }

  void finish() {
    if (witness_.violations().empty() && (!connections_.empty() || operator_.busy())) report_stuck();
    if (witness_.violations().empty()) {
      finish_prepared();
      operator_.go_home();
      if (!database_.locks.empty()) witness_.report("liveness: locks are left when everybody is gone");
    }
    if (options_.trace && !witness_.violations().empty())
      for (const auto& each : connections_)
        note(each->describe());
    if (!witness_.violations().empty())
      for (const auto& each : connections_)
        result_.scripts.push_back(
            {each->server.id(), each->client.habits_of().default_level, each->client.said()});
    result_.violations = witness_.violations();
    result_.touches = witness_.touches();
    result_.mode_changes = witness_.mode_changes();
    result_.transitions = operator_.committed();
  }

  const run_options options_;
  random_source chance_;
  const plan plan_;
  std::shared_ptr<config::settings> settings_;
  gate::rule_switch rule_switch_;
  std::shared_ptr<const gate::gate_rules> rules_;
  std::uint64_t generation_ = 0;
  model_database database_;
  witness witness_;
  lock_holder last_backend_ = 0;
  operator_desk operator_;
  std::vector<std::unique_ptr<connection>> connections_;
  std::vector<std::function<void()>> moves_;
  std::size_t opened_ = 0;
  bool calm_ = false;
  run_result result_;
};

} // namespace

run_result run_world(const run_options& options) { return world(options).run(); }

} // namespace ledgergate::simulation
