-- Explicit transactions, savepoints, errors inside, chains, levels, two-phase commit.
BEGIN;
SELECT payload FROM jobs WHERE id = 1;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (1, 1, 'committed') RETURNING event_id;
UPDATE users SET kudos = kudos + 1 WHERE id = 1;
COMMIT;
BEGIN;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (1, 1, 'rolled back');
ROLLBACK;
SELECT note FROM kudos_ledger WHERE user_id = 1 ORDER BY event_id;
-- The touch fails, what follows is refused, and the session is fine afterwards.
BEGIN;
INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1);
SELECT count(*) FROM kudos_ledger;
INSERT INTO kudos_ledger (user_id, amount) VALUES (1, 1);
;
COMMIT;
BEGIN;
SELECT 1 / 0;
SELECT count(*) FROM kudos_ledger;
ROLLBACK \; SELECT count(*) FROM kudos_ledger;
BEGIN;
SELEC 1 FROM kudos_ledger;
END;
-- Savepoints.
BEGIN;
SAVEPOINT a;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (2, 1, 'inside a');
ROLLBACK TO a;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (2, 1, 'after a');
SAVEPOINT b;
SELECT amount / 0 FROM kudos_ledger;
SELECT count(*) FROM kudos_ledger;
ROLLBACK TO SAVEPOINT b;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (2, 1, 'after b');
RELEASE a;
COMMIT;
SELECT note FROM kudos_ledger WHERE user_id = 2 ORDER BY event_id;
BEGIN;
SAVEPOINT a;
SELECT count(*) FROM kudos_ledger;
RELEASE a;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (2, 1, 'after the release');
COMMIT;
BEGIN \; SAVEPOINT s \; INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1);
ROLLBACK TO s \; INSERT INTO kudos_ledger (user_id, amount, note) VALUES (2, 1, 'one text');
COMMIT;
-- Every client savepoint of psql's own.
\set ON_ERROR_ROLLBACK on
BEGIN;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (3, 1, 'good');
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (9999, 1, 'bad');
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (3, 1, 'good again');
COMMIT;
\set ON_ERROR_ROLLBACK off
SELECT note FROM kudos_ledger WHERE user_id = 3 ORDER BY event_id;
-- Chains.
BEGIN;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (4, 1, 'first link');
COMMIT AND CHAIN;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (4, 1, 'second link');
ROLLBACK AND CHAIN;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (4, 1, 'third link');
COMMIT;
SELECT note FROM kudos_ledger WHERE user_id = 4 ORDER BY event_id;
-- Levels.
BEGIN;
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM kudos_ledger;
INSERT INTO kudos_ledger (user_id, amount) VALUES (5, 1);
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO kudos_ledger (user_id, amount) VALUES (5, 1);
SHOW transaction_isolation;
COMMIT;
BEGIN READ ONLY;
SELECT count(*) FROM kudos_ledger;
INSERT INTO kudos_ledger (user_id, amount) VALUES (5, 1);
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT count(*) FROM kudos_ledger;
COMMIT;
BEGIN;
SELECT count(*) FROM kudos_ledger;
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
ROLLBACK;
BEGIN;
SET TRANSACTION READ WRITE \; INSERT INTO kudos_ledger (user_id, amount) VALUES (5, 1);
COMMIT;
SET default_transaction_isolation = 'repeatable read';
INSERT INTO kudos_ledger (user_id, amount) VALUES (5, 1);
BEGIN;
SELECT count(*) FROM kudos_ledger;
COMMIT;
RESET default_transaction_isolation;
-- Transaction control inside one text.
BEGIN \; INSERT INTO kudos_ledger (user_id, amount) VALUES (6, 1) \; COMMIT;
BEGIN \; SELECT 1 \; COMMIT \; INSERT INTO kudos_ledger (user_id, amount) VALUES (6, 1);
INSERT INTO kudos_ledger (user_id, amount) VALUES (6, 1) \; BEGIN \;
    INSERT INTO kudos_ledger (user_id, amount) VALUES (6, 1);
COMMIT;
COMMIT;
ROLLBACK;
SELECT count(*) FROM kudos_ledger WHERE user_id = 6;
-- Two-phase commit: the pin stays with the prepared transaction.
BEGIN;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (7, 1, 'prepared');
PREPARE TRANSACTION 'seven';
SELECT count(*) FROM kudos_ledger WHERE user_id = 7;
COMMIT PREPARED 'seven';
BEGIN;
SAVEPOINT a;
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (7, 1, 'prepared behind a savepoint');
PREPARE TRANSACTION 'seven';
ROLLBACK PREPARED 'seven';
SELECT note FROM kudos_ledger WHERE user_id = 7 ORDER BY event_id;
-- Without autocommit psql says BEGIN by itself.
\set AUTOCOMMIT off
INSERT INTO kudos_ledger (user_id, amount, note) VALUES (8, 1, 'no autocommit');
COMMIT;
SELECT count(*) FROM kudos_ledger WHERE user_id = 8;
ROLLBACK;
