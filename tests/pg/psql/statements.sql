-- Autocommit: one statement a message, with and without a touch, results, notices, errors.
SELECT id, payload FROM jobs WHERE id < 4 ORDER BY id;
UPDATE jobs SET state = 'done' WHERE id = 2;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (1, 5.25, 'first') RETURNING event_id, amount;
SELECT event_id, user_id, amount FROM kudos_ledger WHERE user_id = 1 ORDER BY event_id;
\echo :SQLSTATE :ROW_COUNT
SELECT announce(note) FROM kudos_ledger WHERE note = 'first';
DELETE FROM kudos_stat_events;
\echo :SQLSTATE :ROW_COUNT
TRUNCATE kudos_balance_snapshots;
UPDATE users SET kudos = kudos + 5.25 WHERE id = 1;
SELECT mode FROM kudos_ledger_control WHERE id = 1 FOR KEY SHARE;
TABLE kudos_reservations;
VALUES (1), (2);
WITH moved AS (INSERT INTO kudos_stat_events (user_id, amount) VALUES (1, 2) RETURNING user_id)
  SELECT * FROM moved;
MERGE INTO kudos_reservations r USING (VALUES (20)) v (id) ON r.user_id = v.id
  WHEN MATCHED THEN UPDATE SET amount = 3;
INSERT INTO kudos_reservations (user_id, amount) VALUES (20, 1) ON CONFLICT (user_id)
  DO UPDATE SET amount = 4;
SELECT count(*) AS "kudos_ledger", current_query() AS what FROM kudos_ledger;
EXPLAIN (COSTS off) SELECT * FROM kudos_stat_events;
EXPLAIN (ANALYZE, BUFFERS off, COSTS off, TIMING off, SUMMARY off)
  INSERT INTO kudos_stat_events (user_id, amount) VALUES (2, 2);
CREATE TABLE copied AS SELECT user_id, amount FROM kudos_ledger WHERE user_id = 1;
SELECT * FROM copied;
DROP TABLE copied;
SELECT user_id, sum(amount) INTO TEMP sums FROM kudos_ledger GROUP BY user_id;
SELECT count(*) FROM sums;
SELECT post_credit(3, 2.5);
-- Comments, quotes and case.
select/* kudos_ledger */1;
SELECT 'a string that says kudos_ledger' AS words;
SELECT count(*) FROM "kudos_ledger";
SELECT count(*) FROM public.KUDOS_LEDGER;
SELECT count(*) FROM U&"\006Budos_ledger";
/* leading comment */ SELECT count(*) FROM kudos_ledger -- trailing comment
;
-- Empty statements and several in one message.
;
SELECT 1 \; SELECT count(*) FROM kudos_ledger \; SELECT 2;
SELECT 1 \; INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1) \; SELECT 2;
INSERT INTO kudos_ledger (user_id, amount) VALUES (2, 1) \; SELECT 1 / 0;
SELECT count(*) FROM kudos_ledger WHERE user_id = 2;
-- Errors: constraint, syntax, names with their position, division by zero, a parameter that has no value.
INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1);
\echo :SQLSTATE :LAST_ERROR_MESSAGE
SELEC 1 FROM kudos_ledger;
\echo :SQLSTATE
SELECT no_such_column FROM kudos_ledger;
SELECT amount / 0 FROM kudos_ledger;
\echo :SQLSTATE
SELECT * FROM kudos_ledger WHERE event_id = $1;
\echo :SQLSTATE
SELECT * FROM kudos_ledger WHERE;
INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 'no number');
SELECT no_such_function(amount) FROM kudos_ledger;
SELECT 1 / 0;
SELECT no_such_column FROM jobs;
-- Described, and generated.
SELECT event_id, amount FROM kudos_ledger WHERE user_id = 1 \gdesc
SELECT format('SELECT %s FROM kudos_ledger WHERE event_id = 1', n) FROM generate_series(1, 3) n \gexec
\set FETCH_COUNT 5
SELECT event_id FROM kudos_ledger ORDER BY event_id LIMIT 12;
SELECT event_id / (event_id - 3) FROM kudos_ledger ORDER BY event_id LIMIT 12;
\set FETCH_COUNT 0
SELECT count(*) FROM kudos_ledger;
