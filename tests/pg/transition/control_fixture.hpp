// A control service against the throw-away server, its loop turned by the test itself.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "config/settings.hpp"
#include "proxy/control/control_service.hpp"
#include "tests/pg/transition/pg_client.hpp"

namespace ledgergate::control {

using namespace std::chrono_literals;
using transition::abort_reason;
using transition::attempt_outcome;
using transition::transition_record;
using transition::transition_request;
using transition::transition_state;

constexpr const char* pin_key = "SELECT pg_advisory_xact_lock_shared(1263879245)";
constexpr const char* applier_key = "SELECT pg_advisory_xact_lock(1263879247)";

/// A writer in a transaction that holds its pin for as long as the test lets it.
class pinned_client : public pg_client {
 public:
  pinned_client() {
    run("BEGIN");
    run(pin_key);
  }
};

class control_test : public testing::Test {
 protected:
  control_test();

  /// Turns the loop until `wanted` is true. Fails the test when it does not become so in time.
  void turn_until(const std::string& what, const std::function<bool()>& wanted);
  /// Made of `settings`, started, and connected.
  std::unique_ptr<control_service> connected_service();
  void connect() { service = connected_service(); }

  start_answer start(transition_request request) { return start(*service, std::move(request)); }
  start_answer start(control_service& with, transition_request request);
  /// Starts it, expects that it is accepted, and returns its id.
  std::string begin(transition_request request);
  transition_record record(const std::string& id) { return service->get(id).value(); }
  void wait_for(const std::string& id, transition_state state);
  /// Until it is queued and the server has it in the gate's queue.
  void wait_for_queue(const std::string& id);
  transition_record ended(const std::string& id);
  transition_record run(transition_request request) { return ended(begin(std::move(request))); }

  /// Nobody is in the gate's queue or holds it exclusively, and new pins are granted at once.
  void expect_writers_are_free();
  /// What the client has sent is carried out without an error, while the service goes on.
  void expect_granted(pg_client& client);
  /// Lets commits wait for a standby of this name; with none, lets them go on. Returns when the server has
  /// read it.
  void ask_for_standby(const std::string& name);
  std::string mode() { return administrator.value("SELECT mode FROM kudos_ledger_control"); }
  std::string transition_pid() {
    return administrator.value(
        "SELECT pid FROM pg_stat_activity WHERE query LIKE '/* ledgergate transition%' "
        "AND application_name LIKE 'ledgergate/%' ORDER BY xact_start LIMIT 1");
  }

  static transition_request to(const std::string& mode);

  boost::asio::io_context io;
  std::shared_ptr<config::settings> settings = std::make_shared<config::settings>();
  pg_client administrator{"postgres", "administrator"};
  std::unique_ptr<control_service> service;
};

} // namespace ledgergate::control
