// The oracle: told by the model server what every backend does, it knows nothing of the proxy.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/simulation/model_database.hpp"

namespace ledgergate::simulation {

class witness : public server_watcher {
 public:
  explicit witness(model_database& database);

  void touched(const touch& what) override;
  void transaction_over(lock_holder holder) override;
  void transaction_prepared(lock_holder from, lock_holder to) override;
  void mode_committed(lock_holder holder) override;
  void gate_queued(lock_holder holder, lock_mode mode) override;

  /// What was found, each a sentence that begins with the guarantee it breaks.
  const std::vector<std::string>& violations() const { return violations_; }
  void report(std::string violation) { violations_.push_back(std::move(violation)); }

  std::size_t touches() const { return touches_; }
  /// Changes of the mode committed by this backend or prepared transaction.
  unsigned mode_changes_by(lock_holder holder) const;
  std::size_t mode_changes() const { return mode_changes_; }

 private:
  struct live_touch {
    std::uint64_t mode_writer;
  };

  void lost(lock_holder holder, lock_key key);
  std::string name(lock_holder holder) const;

  model_database& database_;
  std::map<lock_holder, live_touch> live_; ///< transactions that have touched and go on
  std::map<lock_holder, std::map<lock_holder, unsigned>>
      queued_; ///< transitions that wait: who went past them
  std::map<lock_holder, unsigned> changes_by_;
  std::size_t touches_ = 0;
  std::size_t mode_changes_ = 0;
  std::vector<std::string> violations_;
};

} // namespace ledgergate::simulation
