#include "tests/simulation/shrink.hpp"

#include <algorithm>
#include <optional>

namespace ledgergate::simulation {

namespace {

constexpr std::uint64_t seeds_tried = 60;

/// A violation without the numbers in it.
std::string kind_of(const std::string& violation) {
  std::string out;
  for (const char c : violation)
    if (c < '0' || c > '9') out += c;
  return out.substr(0, out.find(';'));
}

/// The seed with which this script breaks the guarantee.
std::optional<std::uint64_t> breaks(run_options options, const std::string& kind,
                                    const std::vector<utterance>& said) {
  options.script = std::make_shared<const std::vector<utterance>>(said);
  for (options.seed = 1; options.seed <= seeds_tried; ++options.seed) {
    const run_result result = run_world(options);
    if (!result.violations.empty() && kind_of(result.violations.front()) == kind) return options.seed;
  }
  return std::nullopt;
}

std::vector<utterance> shortest(const run_options& options, const std::string& kind,
                                std::vector<utterance> said) {
  for (std::size_t chunk = std::max<std::size_t>(said.size() / 2, 1); chunk > 0;
       chunk = chunk > 1 ? chunk / 2 : 0) {
    for (std::size_t at = 0; at < said.size();) {
      std::vector<utterance> less = said;
      const std::size_t end = std::min(at + chunk, less.size());
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(at),
                 less.begin() + static_cast<std::ptrdiff_t>(end));
      if (breaks(options, kind, less)) {
        said = std::move(less);
      } else {
        at += chunk;
      }
    }
  }
  for (utterance& each : said) {
    const bool before = std::exchange(each.waited, true);
    if (!before && !breaks(options, kind, said)) each.waited = false;
  }
  return said;
}

} // namespace

std::vector<std::string> shrink_run(const run_options& options) {
  const run_result found = run_world(options);
  if (found.violations.empty()) return {"nothing is broken with this seed"};
  const std::string kind = kind_of(found.violations.front());
  run_options tried = options;
  tried.trace = false;
  for (const session_script& script : found.scripts) {
    for (const bool transitions : {false, true}) {
      tried.script_level = script.level;
      tried.script_transitions = transitions;
      if (!breaks(tried, kind, script.said)) continue;
      const std::vector<utterance> said = shortest(tried, kind, script.said);
      std::vector<std::string> out = {found.violations.front(), "default isolation level: " + script.level};
      for (const utterance& each : said)
        out.push_back((each.waited ? "  " : "+ ") +
                      shown(each.bytes[0], std::string_view(each.bytes).substr(5)));
      tried.seed = *breaks(tried, kind, said);
      tried.script = std::make_shared<const std::vector<utterance>>(said);
      tried.trace = true;
      for (const std::string& line : run_world(tried).trace)
        out.push_back("    " + line);
      return out;
    }
  }
  return {found.violations.front(), "no session breaks it alone"};
}

} // namespace ledgergate::simulation
