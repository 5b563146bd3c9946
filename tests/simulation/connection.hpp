// A client, its proxied session, its backend, and the four pipes between them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/model_backend.hpp"
#include "tests/simulation/model_client.hpp"
#include "tests/simulation/proxied_session.hpp"
#include "tests/simulation/witness.hpp"

namespace ledgergate::simulation {

class connection {
 public:
  connection(model_database& database, witness& watcher, random_source& chance,
             std::shared_ptr<const gate::gate_rules> rules, breakage broken, lock_holder id,
             model_client::habits habits);

  /// Everything that can happen here without time going by.
  void add_moves(std::vector<std::function<void()>>& moves);
  std::optional<virtual_time> next_moment() const;
  void time();

  /// The client vanishes. The proxy cancels what runs for it and hangs up, as proxy/session does.
  void lose_client();

  /// What is wrong now: an answer that is not the server's, a lock that outlived its transaction.
  std::optional<std::string> check();
  bool over() const;
  bool compared_to_the_end() const;
  std::string name() const { return "session " + std::to_string(server.id()); }
  std::string describe() const;

  model_client client;
  proxied_session proxy;
  model_backend server;
  std::function<void(const std::string&)> on_trace;
  std::function<void()> read_catalog; ///< makes rules of it and gives them to every session

 private:
  struct pipe {
    std::string bytes;
    bool closed = false; ///< nothing will be added
    bool ended = false;  ///< and the reader has seen it
  };

  std::string some_of(pipe& from);
  void speak();
  void client_to_proxy();
  void proxy_to_server();
  void step_server();
  void server_to_proxy();
  void proxy_to_client();
  void answer_question();
  void answer_catalog();
  void collect_from_proxy();
  void hang_up_upstream();
  std::optional<std::string> check_rest() const;
  void trace(const std::string& line) const {
    if (on_trace) on_trace(name() + " " + line);
  }

  model_database& database_;
  random_source& chance_;
  const breakage broken_;
  pipe client_proxy_, proxy_server_, server_proxy_, proxy_client_;
  std::optional<std::uint64_t> answer_;
  bool client_gone_ = false;
  std::optional<virtual_time> cancel_again_;
};

} // namespace ledgergate::simulation
