-- Prepared statements, cursors, procedures, DO, locks, settings, large objects.
PREPARE post (int, numeric) AS INSERT INTO kudos_ledger (user_id, amount, note)
    VALUES ($1, $2, 'prepared') RETURNING event_id;
EXECUTE post (1, 1.5);
BEGIN;
EXECUTE post (1, 2.5);
COMMIT;
EXECUTE post (9999, 1);
DEALLOCATE post;
EXECUTE post (1, 1);
PREPARE look AS SELECT payload FROM jobs WHERE id = $1;
EXECUTE look (1);
DISCARD ALL;
EXECUTE look (1);
-- Cursors.
BEGIN;
DECLARE c CURSOR FOR SELECT event_id, user_id FROM kudos_ledger ORDER BY event_id;
FETCH 2 FROM c;
MOVE 3 FROM c;
FETCH 1 FROM c;
CLOSE c;
COMMIT;
DECLARE c CURSOR FOR SELECT event_id FROM kudos_ledger;
DECLARE held CURSOR WITH HOLD FOR SELECT event_id FROM kudos_ledger ORDER BY event_id;
FETCH 2 FROM held;
CLOSE held;
BEGIN;
DECLARE b BINARY CURSOR FOR SELECT id FROM jobs WHERE id = 1;
FETCH 1 FROM b;
COMMIT;
-- Blocks, procedures, functions.
DO $$ BEGIN INSERT INTO kudos_ledger (user_id, amount, note) VALUES (2, 1, 'by DO'); END $$;
DO $$ BEGIN EXECUTE 'INSERT INTO kudos_' || 'ledger (user_id, amount) VALUES (2, 1)'; END $$;
DO $$ BEGIN RAISE NOTICE 'nothing gated'; END $$;
DO $$ BEGIN RAISE EXCEPTION 'given up' USING ERRCODE = 'LG001', HINT = 'a hint'; END $$;
\echo :SQLSTATE
CALL post_in_two_transactions(3);
BEGIN;
CALL post_in_two_transactions(3);
ROLLBACK;
SELECT note FROM kudos_ledger WHERE user_id = 3 ORDER BY event_id;
BEGIN;
DO $$
BEGIN
  BEGIN
    INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1);
  EXCEPTION WHEN foreign_key_violation THEN
    INSERT INTO kudos_ledger (user_id, amount, note) VALUES (4, 1, 'handled');
  END;
END $$;
COMMIT;
SELECT note FROM kudos_ledger WHERE user_id = 4 ORDER BY event_id;
SELECT post_credit(5, 1), post_credit(5, 2);
-- Table locks, and locks of the client's own.
BEGIN;
LOCK TABLE kudos_ledger IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO kudos_ledger (user_id, amount) VALUES (6, 1);
COMMIT;
LOCK TABLE kudos_ledger;
BEGIN;
SELECT pg_advisory_xact_lock_shared(1263879245);
SELECT count(*) FROM kudos_ledger;
COMMIT;
SELECT pg_advisory_lock_shared(1263879245);
SELECT count(*) FROM kudos_ledger;
SELECT pg_advisory_unlock_shared(1263879245);
SELECT pg_advisory_unlock_shared(1263879245);
BEGIN;
SELECT count(*) FROM kudos_ledger;
SELECT pg_advisory_unlock_all();
SELECT count(*) FROM kudos_ledger;
COMMIT;
-- Nothing of the proxy's may be left behind.
SELECT locktype, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory';
SELECT name, statement FROM pg_prepared_statements;
SELECT name FROM pg_cursors;
-- Settings.
SET application_name = 'renamed';
SHOW application_name;
SET search_path = 'nowhere';
SELECT count(*) FROM public.kudos_ledger;
SELECT count(*) FROM kudos_ledger;
RESET search_path;
SET standard_conforming_strings = off;
SELECT '\'' AS quote, count(*) FROM kudos_ledger;
RESET standard_conforming_strings;
SET client_encoding = 'LATIN1';
SELECT count(*) FROM kudos_ledger;
RESET client_encoding;
SET bytea_output = escape;
SET lock_timeout = '10s' \; SET statement_timeout = '60s';
SELECT count(*) FROM kudos_ledger;
-- A hostile search_path must not redirect the gate's lock.
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.pg_advisory_xact_lock_shared(bigint) RETURNS void LANGUAGE sql AS 'SELECT';
SET search_path = hostile, public, pg_catalog;
SELECT count(*) FROM kudos_ledger;
BEGIN;
SELECT count(*) FROM kudos_ledger;
COMMIT;
RESET search_path;
-- Maintenance may not run in a transaction block, and touches no balance.
ANALYZE kudos_ledger;
CREATE TABLE own (words text);
CREATE INDEX CONCURRENTLY own_index ON own (words) /* mentions kudos_ledger */;
REINDEX TABLE CONCURRENTLY own /* mentions kudos_ledger */;
VACUUM (ANALYZE) own /* mentions kudos_ledger */;
ALTER TABLE own ADD COLUMN kudos_ledger integer;
DROP TABLE own;
-- A temporary table of the same name.
CREATE TEMP TABLE kudos_stat_events (words text);
INSERT INTO kudos_stat_events VALUES ('temporary');
SELECT * FROM kudos_stat_events;
DROP TABLE kudos_stat_events;
-- Large objects go over the function call message.
\lo_import /dev/null 'nothing'
\lo_list
\set object :LASTOID
SELECT :object > 0 AS imported;
\lo_unlink :object
