-- A legacy writer: pins the mode by a row lock, posts, and in shadow changes the balance itself.
\set user random(1, 60)
\set amount random(1, 9)
BEGIN;
SELECT (mode = 'shadow')::int AS inline FROM kudos_ledger_control WHERE id = 1 LIMIT 1 FOR KEY SHARE \gset
INSERT INTO kudos_ledger (event_id, entry_type, user_id, escrow, amount, applied)
    VALUES (gen_random_uuid(), 'gift', :user, false, :amount, :inline = 1);
\if :inline
UPDATE users SET kudos = users.kudos + :amount WHERE users.id = :user;
\endif
COMMIT;
