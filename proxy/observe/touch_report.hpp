// gate.mode observe: what would have been pinned, by client and normalised statement, and for how long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace ledgergate::observe {

/// One statement as a client sends it again and again.
struct observed_statement {
  std::string user;
  std::string application; ///< as the start-up packet names it
  std::string statement;   ///< constants replaced by `?`; empty where no text was at hand
  std::string verdict;     ///< touch or transition
  std::string reason;
  std::string name;                     ///< gated name that matched, of the first time
  std::uint64_t executions = 0;         ///< that would have been pinned, or found the pin there
  std::uint64_t pins = 0;               ///< transactions of theirs that are over
  std::chrono::microseconds pinned{0};  ///< from the statement until its transaction was over, summed
  std::chrono::microseconds longest{0}; ///< of these
};

/// Thread-safe: the workers add, the admin port reads. Bounded; what is too much is counted.
class touch_report {
 public:
  using id = std::size_t;
  static constexpr std::size_t max_statements = 1000;
  static constexpr id left_out = max_statements;

  /// Counts one execution. `seen` has no figures; its statement is the client's own text.
  id add(observed_statement seen);
  /// The transaction in which `which` was executed is over, so long after it.
  void over(id which, std::chrono::microseconds lasted);

  struct snapshot {
    std::vector<observed_statement> statements; ///< most time under the pin first
    std::uint64_t left_out = 0;                 ///< executions of statements that found no room
  };
  snapshot get() const;

 private:
  mutable std::mutex mutex_;
  std::vector<observed_statement> statements_;
  std::map<std::tuple<std::string, std::string, std::string>, id> known_;
  std::uint64_t left_out_ = 0;
};

} // namespace ledgergate::observe
