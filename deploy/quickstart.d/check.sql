-- Is every posting in a balance exactly once? One row per check: what, expected, found. The value
-- :posted is the number of postings whose commit the writers saw.
WITH posted AS (
    SELECT user_id, count(*) AS postings,
           coalesce(sum(amount) FILTER (WHERE NOT escrow), 0) AS kudos,
           coalesce(sum(amount) FILTER (WHERE escrow), 0) AS evaluating
    FROM kudos_ledger GROUP BY user_id
), balance AS (
    SELECT u.kudos = o.kudos + coalesce(p.kudos, 0)
               AND u.evaluating_kudos = coalesce(p.evaluating, 0) AS sum_holds,
           s.quantity = coalesce(p.postings, 0) AS count_holds
    FROM users u
    JOIN kudos_balance_snapshots o ON o.user_id = u.id
    JOIN user_stats s ON s.user_id = u.id AND s.action = 'postings'
    LEFT JOIN posted p ON p.user_id = u.id
)
SELECT 'mode in force' AS what, 'shadow' AS expected,
       (SELECT mode FROM kudos_ledger_control WHERE id = 1) AS found
UNION ALL
SELECT 'postings committed by writers, and stored', :posted::text, (SELECT count(*) FROM kudos_ledger)::text
UNION ALL
SELECT 'postings counted into a balance', (SELECT count(*) FROM kudos_ledger)::text,
       (SELECT sum(quantity) FROM user_stats WHERE action = 'postings')::text
UNION ALL
SELECT 'postings in no balance yet', '0', (SELECT count(*) FROM kudos_ledger WHERE NOT applied)::text
UNION ALL
SELECT 'users whose balance is not opening + postings', '0',
       (SELECT count(*) FROM balance WHERE NOT sum_holds)::text
UNION ALL
SELECT 'users with a posting counted twice or never', '0',
       (SELECT count(*) FROM balance WHERE NOT count_holds)::text
UNION ALL
SELECT 'sum of all balances', (SELECT sum(kudos) FROM kudos_balance_snapshots)::text,
       (SELECT sum(kudos + evaluating_kudos) FROM users)::text
