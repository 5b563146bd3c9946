\set account random(1, 10)
\startpipeline
SELECT payload FROM jobs WHERE id = :account;
INSERT INTO kudos_ledger (user_id, amount) VALUES (:account, 1);
UPDATE users SET kudos = kudos + 1 WHERE id = :account;
\endpipeline
