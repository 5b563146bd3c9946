-- What the quickstart's final fold (final_fold.sql) and its guard read and write, granted to the role of the control
-- connection. What that role needs in any case is in ../sql/control-role.sql.
GRANT SELECT, UPDATE (applied) ON kudos_ledger TO gate_operator;
GRANT SELECT, UPDATE (kudos, evaluating_kudos) ON users TO gate_operator;
GRANT SELECT, UPDATE (quantity) ON user_stats TO gate_operator;
GRANT SELECT, UPDATE (folded) ON kudos_ledger_applier_state TO gate_operator;
