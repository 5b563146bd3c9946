#include "tests/simulation/witness.hpp"

#include "tests/simulation/model_statement.hpp"

namespace ledgergate::simulation {

namespace {
// What was on its way when the transition queued may still run under the hold of its session.
constexpr unsigned most_transactions_past_a_queued_transition = 12;
} // namespace

witness::witness(model_database& database) : database_(database) {
  database_.locks.on_lost = [this](lock_holder holder, lock_key key) { lost(holder, key); };
}

std::string witness::name(lock_holder holder) const {
  return holder > 0 ? "backend " + std::to_string(holder) : "prepared transaction " + std::to_string(-holder);
}

void witness::touched(const touch& what) {
  ++touches_;
  const bool exempt = what.fixed_snapshot && what.read_only && !what.changes_mode;
  if (exempt) return;
  const auto held = database_.locks.mode_held(what.holder, gate_key);
  const std::string who = name(what.holder);
  if (!held) report("G1: " + who + " touches without holding the gate");
  if (held && !what.fixed_snapshot && !what.snapshot.gate_held)
    report("G1: " + who + " looks with a snapshot from before its pin");
  if (what.snapshot.mode_writer != database_.mode_writer)
    report("G1: " + who + " acts on a mode that is no longer in force");
  if (what.changes_mode) {
    if (held != lock_mode::exclusive) report("G2: " + who + " changes the mode without the exclusive gate");
    if (!database_.locks.holds(what.holder, applier_key, lock_mode::exclusive))
      report("G5: " + who + " changes the mode without the applier lock");
    if (!what.fixed_snapshot && !what.snapshot.gate_exclusive)
      report("G1: " + who + " changes the mode with a snapshot from before its exclusive lock");
  }
  const auto [at, first] = live_.try_emplace(what.holder, live_touch{what.snapshot.mode_writer});
  if (!first && at->second.mode_writer != what.snapshot.mode_writer)
    report("G2: " + who + " sees two modes in one transaction");
}

void witness::transaction_over(lock_holder holder) {
  if (live_.erase(holder) == 0) return;
  for (auto& [transition, past] : queued_) {
    if (transition == holder || database_.locks.waits_for(transition) != gate_key) continue;
    if (++past[holder] > most_transactions_past_a_queued_transition) {
      report("G3: " + name(holder) + " goes on transaction by transaction past a transition that waits");
      past[holder] = 0;
    }
  }
}

void witness::transaction_prepared(lock_holder from, lock_holder to) {
  const auto found = live_.find(from);
  if (found == live_.end()) return;
  if (!database_.locks.holds(to, gate_key, lock_mode::shared))
    report("G2: " + name(from) + " is prepared without its pin");
  live_.emplace(to, found->second);
  live_.erase(from);
}

void witness::mode_committed(lock_holder holder) {
  ++mode_changes_;
  ++changes_by_[holder];
  if (!database_.locks.holds(holder, gate_key, lock_mode::exclusive))
    report("G2: " + name(holder) + " commits a mode without the exclusive gate");
  for (const auto& [other, touched] : live_)
    if (other != holder) report("G2: the mode changes under " + name(other));
}

void witness::gate_queued(lock_holder holder, lock_mode mode) {
  if (mode == lock_mode::exclusive) queued_[holder].clear();
}

void witness::lost(lock_holder holder, lock_key key) {
  if (key == gate_key && live_.contains(holder))
    report("G2: " + name(holder) + " loses the gate in the middle of its transaction");
}

unsigned witness::mode_changes_by(lock_holder holder) const {
  const auto found = changes_by_.find(holder);
  return found == changes_by_.end() ? 0 : found->second;
}

} // namespace ledgergate::simulation
