\set account random(1, 10)
BEGIN;
SELECT payload FROM jobs WHERE id = :account;
SELECT mode FROM kudos_ledger_control WHERE id = 1;
INSERT INTO kudos_ledger (user_id, amount) VALUES (:account, 1);
UPDATE users SET kudos = kudos + 1 WHERE id = :account;
COMMIT;
