-- The role of the sidecar's control connection: it may change the mode and fold the tail, and
-- nothing else. Run as a superuser in the gated database, after schema.sql. The passwords are set
-- by deploy/quickstart.

-- To name who holds or awaits a pin: other sessions' queries and states in pg_stat_activity, and
-- the health of synchronous standbys in pg_stat_replication. (pg_locks and pg_prepared_xacts are
-- open to everybody.)
GRANT pg_read_all_stats TO gate_operator;

-- So that a deadlock takes the transition, which tries again, and never a writer: the transition's
-- session looks for deadlocks long before the writers' sessions do.
GRANT SET ON PARAMETER deadlock_timeout TO gate_operator;

-- The control row. SELECT on the whole table, because its xmin is read as well.
GRANT SELECT, UPDATE (mode, changed_at) ON kudos_ledger_control TO gate_operator;

-- What the final fold (final_fold.sql) and its guard read and write.
GRANT SELECT, UPDATE (applied) ON kudos_ledger TO gate_operator;
GRANT SELECT, UPDATE (kudos, evaluating_kudos) ON users TO gate_operator;
GRANT SELECT, UPDATE (quantity) ON user_stats TO gate_operator;
GRANT SELECT, UPDATE (folded) ON kudos_ledger_applier_state TO gate_operator;
