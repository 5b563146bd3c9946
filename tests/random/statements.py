"""The texts that random sessions are made of.

Every result is decided by the session alone: whatever could come in any order is ordered, and nothing asks
for the time, a process or a transaction number. Amounts are 0 but for `post_by_mode`, which keeps the books.
"""

READS = (
    "SELECT count(*) FROM kudos_ledger",
    "SELECT event_id FROM kudos_ledger WHERE event_id < 7 ORDER BY event_id",
    "SELECT 1 / (i - 5) FROM (SELECT event_id AS i FROM kudos_ledger WHERE event_id < 9 ORDER BY 1 OFFSET 0) l",
    "SELECT id FROM users WHERE id = 3 FOR UPDATE",
    "SELECT announce('read') FROM kudos_ledger WHERE event_id = 2",
    "SELECT user_id, amount FROM kudos_stat_events WHERE event_id = 1",
    "VALUES ((SELECT max(user_id) FROM kudos_ledger))",
    "SELECT mode FROM kudos_ledger_control WHERE id = 1",
    "SELECT mode FROM kudos_ledger_control WHERE id = 1 FOR KEY SHARE",
    "SELECT set_config('application_name', 'renamed', false) FROM kudos_ledger WHERE event_id = 1",
    "SELECT current_query() FROM kudos_ledger WHERE event_id = 1",
    "SELECT nocolumn FROM kudos_ledger",
)

WRITES = (
    "INSERT INTO kudos_ledger (user_id, amount) VALUES (3, 0)",
    "INSERT INTO kudos_ledger (user_id, amount) VALUES (4, 0) RETURNING user_id",
    "INSERT INTO kudos_ledger (user_id, amount) VALUES (999, 0)",
    "INSERT INTO kudos_ledger (user_id, amount) VALUES (999, 0) RETURNING user_id",
    "INSERT INTO kudos_ledger (user_id, amount) SELECT id, 0 FROM users WHERE id < 4",
    "INSERT INTO kudos_ledger (user_id, amount, entry_type) VALUES (1, 0, '')",
    "INSERT INTO kudos_reservations (user_id, amount) VALUES (77, 0)",
    "INSERT INTO kudos_reservations (user_id, amount) VALUES (2, 0)",
    "UPDATE kudos_ledger SET note = 'seen' WHERE event_id = 2",
    "UPDATE users SET evaluating_kudos = 0 WHERE id = 2",
    "DELETE FROM kudos_ledger WHERE event_id = 6 AND amount = 0",
    "WITH gone AS (DELETE FROM kudos_stat_events RETURNING 1) SELECT count(*) FROM gone",
    "SELECT post_credit(1, 0) > 0",
    "SELECT post_by_mode(5, 2)",
    "SELECT post_by_mode(6, -1)",
)

# Ways to the ledger that only the catalog knows: a view, functions, a trigger, a rule, a default, a foreign key.
HIDDEN = (
    "SELECT user_id FROM openings WHERE event_id < 4 ORDER BY event_id",
    "SELECT owed(2)",
    "INSERT INTO openings (user_id, amount) VALUES (3, 0)",
    "INSERT INTO deeds VALUES (1, 3)",
    "INSERT INTO deeds VALUES (2, 999)",
    "UPDATE deeds SET user_id = 4",
    "INSERT INTO wishes VALUES (1)",
    "INSERT INTO quotes (id) VALUES (1) RETURNING owed",
    "DELETE FROM batches WHERE id = 1",
    "UPDATE batches SET id = 3 WHERE id = 2",
)

# What no plain statement is: each may need the hold that one extra round trip takes.
UTILITIES = (
    "CALL post_twice(1)",
    "CALL post_twice(2)",
    "DO $$ BEGIN INSERT INTO kudos_ledger (user_id, amount) VALUES (5, 0); END $$",
    "DO $$ BEGIN INSERT INTO kudos_ledger (user_id, amount) VALUES (5, 0); COMMIT;"
    " PERFORM event_id FROM kudos_ledger; END $$",
    "DO $$ BEGIN INSERT INTO kudos_ledger (user_id, amount) VALUES (5, 0); ROLLBACK;"
    " PERFORM event_id FROM kudos_ledger; END $$",
    "DO $$ BEGIN EXECUTE 'INSERT INTO kudos_' || 'ledger (user_id, amount) VALUES (5, 0)'; END $$",
    "DO $$ BEGIN EXECUTE 'SELECT 1 FROM kudos_' || 'ledger'; PERFORM 1 / 0;"
    " EXCEPTION WHEN division_by_zero THEN INSERT INTO kudos_ledger (user_id, amount) VALUES (5, 0); END $$",
    "COPY kudos_stat_events (user_id, amount) TO STDOUT",
    "COPY (SELECT count(*) FROM kudos_ledger) TO STDOUT",
    "DECLARE c CURSOR FOR SELECT event_id FROM kudos_ledger ORDER BY event_id",
    "DECLARE h CURSOR WITH HOLD FOR SELECT event_id FROM kudos_ledger ORDER BY event_id",
    "EXPLAIN (COSTS OFF) SELECT 1 FROM kudos_ledger WHERE note = 'x'",
    "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)"
    " INSERT INTO kudos_ledger (user_id, amount) VALUES (6, 0)",
    "LOCK TABLE kudos_ledger IN ROW SHARE MODE",
    "CREATE TEMP TABLE IF NOT EXISTS kept AS SELECT user_id FROM kudos_ledger WHERE event_id = 1",
    "SELECT user_id INTO TEMP TABLE taken FROM kudos_ledger WHERE event_id = 1",
)

IN_BAND_TRANSITIONS = (
    "SELECT id FROM kudos_ledger_control WHERE id = 1 FOR UPDATE",
    "UPDATE kudos_ledger_control SET changed_at = NULL WHERE id = 1",
    "WITH m AS (UPDATE kudos_ledger_control SET changed_at = NULL WHERE id = 1 RETURNING 1)"
    " SELECT count(*) FROM m",
)

# Only where nothing is compared with a direct run.
FLIPS = (
    "UPDATE kudos_ledger_control SET mode = 'ledger' WHERE id = 1",
    "BEGIN; SELECT id FROM kudos_ledger_control WHERE id = 1 FOR UPDATE;"
    " UPDATE kudos_ledger_control SET mode = 'ledger' WHERE id = 1; COMMIT",
)

PLAIN = (
    "SELECT 1",
    "SELECT 1 / 0",
    "SELEC",
    "",
    "-- nothing",
    ";",
    "SELECT announce('plain')",
    "UPDATE jobs SET state = 'done' WHERE id = 1",
    "INSERT INTO jobs VALUES (1)",
    "INSERT INTO later VALUES (1, 999)",
    "SET application_name = 'b'",
    "FETCH 2 FROM c",
    "FETCH 2 FROM h",
    "FETCH ALL FROM h",
    "MOVE 1 IN c",
    "CLOSE c",
    "CLOSE ALL",
    "SELECT generate_series(1, 5)",
    "LISTEN channel",
    "NOTIFY channel, 'said'",
    "UNLISTEN *",
    "SELECT current_query()",
    "SHOW transaction_isolation",
    "SHOW transaction_read_only",
    "SET CONSTRAINTS ALL IMMEDIATE",
    "COPY (SELECT 1) TO STDOUT",
)

BEGINNINGS = (
    *["BEGIN"] * 6,
    "START TRANSACTION",
    "BEGIN READ ONLY",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "START TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE",
)
ENDINGS = (*["COMMIT"] * 5, *["ROLLBACK"] * 2, "END", "ABORT", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN")
SAVEPOINTS = (
    *["SAVEPOINT a"] * 3,
    "SAVEPOINT b",
    *["ROLLBACK TO a"] * 3,
    "ROLLBACK TO SAVEPOINT b",
    "RELEASE a",
    "RELEASE SAVEPOINT b",
)
SET_TRANSACTION = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET TRANSACTION READ ONLY",
    "SET TRANSACTION READ WRITE",
    "SELECT set_config('transaction_isolation', 'repeatable read', true)",
    "SET LOCAL transaction_isolation = 'serializable'",
)
TWO_PHASE = ("PREPARE TRANSACTION 'g1'", "COMMIT PREPARED 'g1'", "ROLLBACK PREPARED 'g1'")

LEVELS = (
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "SET default_transaction_isolation = 'serializable'",
    "SET LOCAL default_transaction_isolation = 'repeatable read'",
    "SELECT set_config('default_transaction_isolation', 'repeatable read', true)",
    "SELECT set_config('default_transaction_isolation', 'repeatable read', false)",
)
LEVELS_BACK = (
    "RESET default_transaction_isolation",
    "SET default_transaction_isolation = 'read committed'",
    "RESET ALL",
    "DISCARD ALL",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
)
SESSION_THINGS = (
    "DISCARD ALL",
    "DISCARD PLANS",
    "DISCARD TEMP",
    "DEALLOCATE ALL",
    "SELECT pg_advisory_unlock_all()",
    "SELECT pg_advisory_unlock_all() FROM kudos_ledger WHERE event_id = 1",
    "SELECT pg_advisory_lock_shared(1263879245)",
    "SELECT pg_advisory_xact_lock_shared(1263879245)",
    "SET standard_conforming_strings = off",
    "RESET standard_conforming_strings",
    "SET client_encoding = 'LATIN1'",
    "RESET client_encoding",
)

# A session that gives back what it has not taken is told another truth: a hold of the sidecar's may be in the way.
UNOWNED_UNLOCK = "SELECT pg_advisory_unlock_shared(1263879245)"

PARAMETRISED = (
    ("INSERT INTO kudos_ledger (user_id, amount) VALUES ($1, 0)", ("3", "999", "no number")),
    ("SELECT user_id FROM kudos_ledger WHERE event_id = $1", ("2", "5")),
    ("SELECT 7 / $1::int", ("1", "0")),
    ("SELECT $1::text FROM kudos_ledger WHERE event_id < 4", ("x",)),
)
COPIES = (
    "COPY kudos_stat_events (user_id, amount) FROM STDIN (DELIMITER ',')",
    "COPY kudos_ledger (user_id, amount) FROM STDIN (DELIMITER ',')",
    "COPY later (id, parent) FROM STDIN (DELIMITER ',')",
)
COPY_LINES = ("7,0", "8,0", "8,0", "bad")
CALLED = (
    ("int4abs", ("-5",)),
    ("99999", ("1",)),
    ("post_by_mode", ("4", "1")),
    ("post_credit", ("4", "0")),
    ("announce", ("called",)),
)
