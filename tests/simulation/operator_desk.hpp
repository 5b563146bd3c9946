// The operator's side of the proxy: runs the transition engine over a backend of its own, as the transition
// driver does over libpq. One transition at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/transition/transition_engine.hpp"
#include "tests/simulation/model_backend.hpp"
#include "tests/simulation/witness.hpp"

namespace ledgergate::simulation {

class operator_desk {
 public:
  operator_desk(model_database& database, witness& watcher, random_source& chance,
                std::shared_ptr<const config::settings> settings, std::function<lock_holder()> next_backend);

  bool busy() const { return engine_ != nullptr; }
  void begin(const std::string& to);
  void ask_cancel();
  /// Hangs up between two transitions; a lock that the control session still holds then is a finding.
  void go_home();
  /// The server ends the control session.
  void lose_backend();
  void cancel_backend();

  /// Something may happen without time going by.
  bool can_move() const;
  void move();
  std::optional<virtual_time> next_moment() const;
  void time();

  std::size_t committed() const { return committed_; }
  std::size_t finished() const { return finished_; }
  /// How it stands, for reports.
  std::string describe() const;

 private:
  void tell(const transition::transition_event& what);
  void carry_out(std::vector<transition::transition_action> actions);
  void read_answers();
  void connection_over();
  void check_outcome();
  transition::moment now() const;

  model_database& database_;
  witness& witness_;
  random_source& chance_;
  std::shared_ptr<const config::settings> settings_;
  std::function<lock_holder()> next_backend_;
  std::unique_ptr<transition::transition_engine> engine_;
  std::unique_ptr<model_backend> backend_;
  std::vector<lock_holder> backends_used_;
  std::string answers_;
  transition::sql_result result_;
  transition::result_set set_;
  std::optional<virtual_time> timer_;
  bool connect_ = false;
  bool cancel_ = false;
  bool over_ = false;
  std::size_t committed_ = 0;
  std::size_t finished_ = 0;
};

} // namespace ledgergate::simulation
