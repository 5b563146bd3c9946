\set account random(1, 10)
SELECT payload FROM jobs WHERE id = :account;
INSERT INTO kudos_ledger (user_id, amount) VALUES (:account, 1);
SELECT count(*) FROM kudos_ledger WHERE user_id = :account;
UPDATE users SET kudos = kudos + 1 WHERE id = :account;
