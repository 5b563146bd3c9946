#include "tests/simulation/client_texts.hpp"

namespace ledgergate::simulation {

namespace {

constexpr const char* touching[] = {
    "INSERT INTO led VALUES (1)",
    "SELECT a FROM led",
    "UPDATE led SET a = 2",
    "SELECT 1 AS a FROM led, generate_series(1, 3)",
    "DELETE FROM led",
    "SELECT mode FROM ledger_control WHERE id = 1",
    "INSERT INTO led VALUES (999)",
    "SELECT 1/0 AS a FROM led",
    "SELECT 1/(a - a) FROM led",
    "SELECT nowhere FROM led",
    "INSERT INTO led VALUES (1",
    "COPY led TO STDOUT",
    "COPY led FROM STDIN",
    "COPY led FROM STDIN",
    "CALL touch_led()",
    "DO $$ BEGIN INSERT INTO led VALUES (1); END $$",
    "DO $$ BEGIN INSERT INTO led VALUES (1); COMMIT; INSERT INTO led VALUES (2); END $$",
    "LOCK TABLE led",
};
constexpr const char* plain[] = {
    "SELECT 1 AS a",
    "SELECT 1 AS a",
    "INSERT INTO other VALUES (1)",
    "UPDATE accounts SET b = 1 WHERE account = 1",
    "UPDATE accounts SET b = 1 WHERE account = 2",
    "UPDATE accounts SET b = 1 WHERE account = 3",
    "SELECT 1/0 AS a",
    "nonsense",
    "SELECT nowhere FROM other",
    "-- led",
    "",
    "SELECT pg_advisory_xact_lock(1263879247)",
};
constexpr const char* transitions[] = {
    "UPDATE ledger_control SET mode = 'ledger' WHERE id = 1",
    "UPDATE ledger_control SET mode = 'shadow' WHERE id = 1",
    "SELECT 1 AS a FROM ledger_control WHERE id = 1 FOR UPDATE",
};
constexpr const char* beginnings[] = {
    "BEGIN",
    "BEGIN",
    "BEGIN",
    "START TRANSACTION",
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
    "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "BEGIN READ ONLY",
};
constexpr const char* in_block[] = {
    "COMMIT",
    "COMMIT",
    "END",
    "ROLLBACK",
    "ABORT",
    "COMMIT AND CHAIN",
    "ROLLBACK AND CHAIN",
    "SAVEPOINT a",
    "SAVEPOINT a",
    "SAVEPOINT b",
    "ROLLBACK TO a",
    "ROLLBACK TO SAVEPOINT b",
    "RELEASE a",
    "RELEASE SAVEPOINT b",
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET TRANSACTION READ ONLY",
    "BEGIN",
};
constexpr const char* in_failed_block[] = {
    "ROLLBACK",           "COMMIT",        "ROLLBACK TO a", "ROLLBACK TO b",
    "ROLLBACK AND CHAIN", "ROLLBACK TO a", "SAVEPOINT a",
};
constexpr const char* on_session[] = {
    "PREPARE p AS INSERT INTO led VALUES (1)",
    "PREPARE p AS SELECT 1 AS a",
    "PREPARE q AS SELECT a FROM led",
    "EXECUTE p",
    "EXECUTE q",
    "EXECUTE p",
    "DEALLOCATE p",
    "DEALLOCATE p; PREPARE p AS INSERT INTO led VALUES (1)",
    "DEALLOCATE q",
    "DEALLOCATE ALL",
    "DISCARD ALL",
    "DECLARE c CURSOR FOR SELECT a FROM led",
    "DECLARE d CURSOR WITH HOLD FOR SELECT a FROM led",
    "FETCH 1 FROM c",
    "FETCH 1 FROM d",
    "CLOSE c",
    "CLOSE d",
    "SET application_name = 'one'",
    "SET application_name = 'two'",
    "SET default_transaction_isolation = 'repeatable read'",
    "SET default_transaction_isolation = 'read committed'",
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "RESET default_transaction_isolation",
    "LISTEN x",
};
constexpr const char* own_locks[] = {
    "SELECT pg_advisory_unlock_all()",
    "SELECT pg_advisory_lock_shared(1263879245)",
    "SELECT pg_advisory_unlock_shared(1263879245)",
    "SELECT pg_advisory_xact_lock_shared(1263879245)",
};

} // namespace

std::string client_texts::view() {
  const std::string name = "v" + std::to_string(client_) + "_" + std::to_string(chance_.between(1, 2));
  const char* body = chance_.one_in(2) ? "SELECT a FROM led" : "SELECT 1 AS a";
  switch (chance_.below(6)) {
  case 0: return "CREATE VIEW " + name + " AS " + body;
  case 1: return "CREATE OR REPLACE VIEW " + name + " AS " + body;
  case 2: return "PREPARE p AS SELECT a FROM " + name;
  case 3: return "UPDATE " + name + " SET a = 1";
  default: return "SELECT a FROM " + name;
  }
}

std::string client_texts::data() {
  if (chance_.one_in(10)) return view();
  if (chance_.one_in(25)) return one_of(transitions);
  return chance_.one_in(2) ? one_of(touching) : one_of(plain);
}

std::string client_texts::control(char letter) {
  if (letter == 'I') {
    return chance_.one_in(12) ? one_of(in_block) : one_of(beginnings);
  }
  if (letter == 'E') return one_of(in_failed_block);
  if (chance_.one_in(15)) {
    return "PREPARE TRANSACTION 'g" + std::to_string(client_) + "_" + std::to_string(++prepared_) + "'";
  }
  return one_of(in_block);
}

std::string client_texts::session() {
  if (prepared_ > 0 && chance_.one_in(4)) {
    const std::string gid = std::to_string(client_) + "_" + std::to_string(chance_.between(1, prepared_));
    return std::string(chance_.one_in(2) ? "COMMIT" : "ROLLBACK") + " PREPARED 'g" + gid + "'";
  }
  return everything_ && chance_.one_in(5) ? one_of(own_locks) : one_of(on_session);
}

std::string client_texts::any(char letter) {
  if (chance_.one_in(3)) return control(letter);
  return chance_.one_in(5) ? session() : data();
}

std::string client_texts::part(char letter) {
  for (;;) {
    std::string text = any(letter);
    const bool stands_alone = text.starts_with("PREPARE TRANSACTION") || text == "DISCARD ALL" ||
                              text.find("TRANSACTION ISOLATION") != std::string::npos ||
                              text.find("BEGIN ISOLATION") != std::string::npos ||
                              text.find("SET TRANSACTION") != std::string::npos;
    if (everything_ || !stands_alone) return text;
  }
}

std::string client_texts::several(char letter) {
  std::string out = part(letter);
  for (std::size_t more = chance_.between(1, 2); more > 0; --more)
    out += "; " + part(chance_.one_in(2) ? 'T' : letter);
  return out;
}

} // namespace ledgergate::simulation
