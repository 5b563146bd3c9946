// The engine between a client that says what the fuzzer chooses and the model server of tests/simulation,
// with every pipe cut where the fuzzer likes. The server makes sense, so the engine must never find that it
// does not; every touch must be pinned to its end; and when all is said and answered, no lock is left.
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/frontend_message.hpp"
#include "tests/fuzz/byte_source.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/simulation/model_backend.hpp"
#include "tests/simulation/proxied_session.hpp"
#include "tests/simulation/witness.hpp"

using namespace ledgergate;
using test::require;

namespace {

constexpr std::array texts = {
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT a",
    "ROLLBACK TO a",
    "RELEASE a",
    "COMMIT AND CHAIN",
    "ROLLBACK AND CHAIN",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "SET default_transaction_isolation = 'repeatable read'",
    "INSERT INTO led VALUES (1)",
    "SELECT a FROM led",
    "SELECT 1 AS a FROM led, generate_series(1, 3)",
    "INSERT INTO led VALUES (999)",
    "SELECT 1/(a - a) FROM led",
    "SELECT nowhere FROM led",
    "COPY led FROM STDIN",
    "COPY led TO STDOUT",
    "CALL touch_led()",
    "DO $$ BEGIN INSERT INTO led VALUES (1); END $$",
    "UPDATE ledger_control SET mode = 'ledger' WHERE id = 1",
    "SELECT 1 AS a",
    "SELECT 1/0 AS a",
    "nonsense",
    "",
    "PREPARE p AS INSERT INTO led VALUES (1)",
    "PREPARE p AS SELECT 1 AS a",
    "EXECUTE p",
    "DEALLOCATE p",
    "DISCARD ALL",
    "DECLARE c CURSOR WITH HOLD FOR SELECT a FROM led",
    "FETCH 1 FROM c",
    "PREPARE TRANSACTION 'g'",
    "COMMIT PREPARED 'g'",
    "BEGIN; INSERT INTO led VALUES (1)",
    "INSERT INTO led VALUES (1); COMMIT; INSERT INTO led VALUES (2)",
    "ROLLBACK; INSERT INTO led VALUES (1)",
    "SET application_name = 'one'",
};
constexpr std::array names = {"", "s", "t"};

std::shared_ptr<const gate::gate_rules> rules() {
  config::settings settings;
  settings.gate.lock_key = simulation::gate_key;
  settings.gate.applier_lock_key = simulation::applier_key;
  settings.gate.tables = {{"", "led", config::pin_on::any, {}}};
  settings.gate.functions = {"touch_led"};
  settings.control_row.table = "ledger_control";
  settings.control_row.where = "id = 1";
  settings.modes = {"shadow", "ledger"};
  return gate::make_gate_rules(settings);
}

std::string message(test::byte_source& in) {
  std::string out;
  const auto name = [&in] { return names[in.below(names.size())]; };
  const auto text = [&in] { return texts[in.below(texts.size())]; };
  switch (in.below(12)) {
  case 0:
  case 1: protocol::append_query(out, text()); break;
  case 2: protocol::append_parse(out, name(), text()); break;
  case 3: protocol::append_bind(out, name(), name()); break;
  case 4: protocol::append_execute(out, name()); break;
  case 5: protocol::append_describe(out, in.below(2) == 0 ? 'S' : 'P', name()); break;
  case 6: protocol::append_close(out, in.below(2) == 0 ? 'S' : 'P', name()); break;
  case 7:
  case 8: protocol::append_sync(out); break;
  case 9: protocol::append_flush(out); break;
  case 10:
    out = protocol::make_function_call(in.below(2) == 0 ? 5061U : simulation::touching_function);
    break;
  default:
    out = in.below(3) == 0 ? std::string("d\0\0\0\6"
                                         "1\n",
                                         7)
                           : std::string("c\0\0\0\4", 5);
    break;
  }
  return out;
}

struct world {
  simulation::model_database database;
  simulation::witness watcher{database};
  simulation::model_backend server{database, watcher, nullptr, 1};
  simulation::proxied_session proxy;
  std::string to_proxy, to_server, from_server;

  explicit world(const std::shared_ptr<const gate::gate_rules>& with)
      : proxy(with, simulation::breakage::none) {}

  static std::string front(std::string& pipe, std::size_t count) {
    std::string out = pipe.substr(0, count);
    pipe.erase(0, count);
    return out;
  }

  void move(test::byte_source& in) {
    const std::size_t count = in.below(4) == 0 ? in.byte() : 4096;
    switch (in.below(4)) {
    case 0: proxy.from_client(front(to_proxy, count)); break;
    case 1: server.feed(front(to_server, count)); break;
    case 2:
      if (server.runnable()) server.step();
      break;
    default: proxy.from_server(front(from_server, count)); break;
    }
    settle();
  }

  void settle() {
    to_server += proxy.take_to_server();
    from_server += server.take_output();
    (void)proxy.take_to_client();
    if (proxy.question_open()) proxy.control_row(database.mode_writer);
    if (proxy.catalog_wanted()) proxy.catalog_read(true);
    require(proxy.closed() != gate::close_reason::server_protocol_violation, "the server makes sense");
    if (!watcher.violations().empty()) require(false, watcher.violations().front().c_str());
  }

  /// Until nothing moves any more.
  void drain() {
    for (int rounds = 0; rounds < 10000; ++rounds) {
      const bool idle = to_proxy.empty() && to_server.empty() && from_server.empty() && !server.runnable();
      if (idle) return;
      if (!to_proxy.empty()) proxy.from_client(front(to_proxy, to_proxy.size()));
      settle();
      server.feed(front(to_server, to_server.size()));
      server.run_all();
      settle();
      proxy.from_server(front(from_server, from_server.size()));
      settle();
    }
    require(false, "everything comes to an end");
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto shared_rules = rules();
  test::byte_source in(data, size);
  world run(shared_rules);
  while (!in.empty() && run.server.alive()) {
    if (in.below(2) == 0) {
      run.to_proxy += message(in);
    } else {
      run.move(in);
    }
  }
  run.drain();
  // A COPY that was begun, a batch without its Sync, a block that is open: brought to an end like a client
  // does.
  std::string ending("c\0\0\0\4S\0\0\0\4", 10);
  protocol::append_query(ending, "ROLLBACK");
  for (int i = 0; i < 3 && run.server.alive(); ++i) {
    run.to_proxy += ending;
    run.drain();
  }
  if (!run.server.alive() || run.server.waiting_for_lock()) return 0; // waits for what it prepared itself
  require(run.server.letter() == 'I', "the transaction is over");
  require(!run.database.locks.holds_anything(1), "no lock is left");
  return 0;
}
