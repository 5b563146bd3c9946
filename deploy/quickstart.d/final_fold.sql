-- The final fold: every posting that is in no balance yet goes into one, in the transaction that
-- changes the mode. One statement, so that it is a step of a transition. Nobody else can write
-- these rows meanwhile: the applier lock keeps the projector out, the exclusive gate lock every
-- writer.
WITH tail AS (
    UPDATE kudos_ledger SET applied = true WHERE NOT applied
    RETURNING user_id, amount, escrow
), delta AS (
    SELECT user_id, count(*) AS postings,
           coalesce(sum(amount) FILTER (WHERE NOT escrow), 0) AS kudos,
           coalesce(sum(amount) FILTER (WHERE escrow), 0) AS evaluating
    FROM tail GROUP BY user_id
), balances AS (
    UPDATE users
    SET kudos = users.kudos + delta.kudos, evaluating_kudos = users.evaluating_kudos + delta.evaluating
    FROM delta WHERE users.id = delta.user_id
), counts AS (
    UPDATE user_stats SET quantity = quantity + delta.postings
    FROM delta WHERE user_stats.user_id = delta.user_id AND user_stats.action = 'postings'
)
UPDATE kudos_ledger_applier_state SET folded = folded + (SELECT count(*) FROM tail)
WHERE applier = 'final fold'
