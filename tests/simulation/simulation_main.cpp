// simulation --seed N [--trace]    one run; --trace shows everything that happened
// simulation --from N --runs M     many runs; stops at the first that breaks a guarantee, with its seed
// `--seed N --shrink`              the shortest that one client of that run must say to break the same
// guarantee
// `--everything` lets clients say what client_texts.hpp leaves out.
// `--without RULE` takes a rule of the engine away (proxy/gate/rule_switch.hpp).
// `--broken NAME` runs with a proxy that is broken on purpose (proxied_session.hpp).
#include <charconv>
#include <cstring>
#include <iostream>
#include <string>

#include "tests/simulation/shrink.hpp"
#include "tests/simulation/world.hpp"

namespace {

using namespace ledgergate::simulation;

std::uint64_t number(const char* text) {
  std::uint64_t out = 0;
  std::from_chars(text, text + std::strlen(text), out);
  return out;
}

breakage broken_by(const std::string& name) {
  for (std::size_t i = 0; i < breakage_count; ++i)
    if (name == to_string(static_cast<breakage>(i))) return static_cast<breakage>(i);
  return breakage::none;
}

bool show(const run_result& result, std::uint64_t seed) {
  for (const std::string& line : result.trace)
    std::cout << line << '\n';
  for (const std::string& violation : result.violations)
    std::cout << "seed " << seed << ": " << violation << '\n';
  return result.violations.empty();
}

} // namespace

int main(int argc, char** argv) {
  run_options options;
  std::uint64_t runs = 1;
  bool keep_going = false;
  bool shrink = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--trace") options.trace = true;
    if (word == "--seed" || word == "--from") options.seed = number(value);
    if (word == "--runs") runs = number(value);
    if (word == "--without") options.left_out = ledgergate::gate::rule_named(value);
    if (word == "--broken") options.broken = broken_by(value);
    if (word == "--keep-going") keep_going = true;
    if (word == "--shrink") shrink = true;
    if (word == "--everything") options.everything = true;
  }
  if (shrink) {
    for (const std::string& line : shrink_run(options))
      std::cout << line << '\n';
    return 0;
  }
  std::size_t bad = 0, steps = 0, touches = 0, changes = 0, transitions = 0, sessions = 0, compared = 0;
  for (std::uint64_t i = 0; i < runs; ++i, ++options.seed) {
    const run_result result = run_world(options);
    steps += result.steps;
    touches += result.touches;
    changes += result.mode_changes;
    transitions += result.transitions;
    sessions += result.sessions;
    compared += result.compared_to_the_end;
    if (show(result, options.seed)) continue;
    ++bad;
    if (!keep_going) break;
  }
  std::cout << runs << " runs, " << bad << " with violations; " << steps << " steps, " << sessions
            << " sessions, " << compared << " compared to their end, " << touches << " touches, " << changes
            << " changes of the mode, " << transitions << " of them by an operator\n";
  return bad == 0 ? 0 : 1;
}
