-- The role of the sidecars' control connections (`control.dsn`): it may see who holds the gate and change the mode,
-- and nothing else. Run as a superuser in the gated database; it may be repeated.
--
--   psql -d horde -f control-role.sql
--
-- Names that differ are given with -v: control_role, schema, control_table, mode_column, changed_at_column; and
-- -v evict=on where `transitions.evict_idle_after` is used. The role gets no password: set one (\password), or
-- let it in by certificate. `gatectl install` grants it its share of the audit table. What guards and steps
-- look at is granted where they are written: quickstart.d/operator.sql is an example.
\set ON_ERROR_STOP on
\if :{?control_role} \else \set control_role gate_operator \endif
\if :{?schema} \else \set schema public \endif
\if :{?control_table} \else \set control_table kudos_ledger_control \endif
\if :{?mode_column} \else \set mode_column mode \endif
\if :{?changed_at_column} \else \set changed_at_column changed_at \endif
\if :{?evict} \else \set evict off \endif
SELECT current_setting('server_version_num')::int >= 150000 AS parameters_can_be_granted \gset

BEGIN;
SELECT format('CREATE ROLE %I LOGIN', :'control_role')
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = :'control_role') \gexec

GRANT CONNECT ON DATABASE :"DBNAME" TO :"control_role";
GRANT USAGE ON SCHEMA :"schema" TO :"control_role";

-- The control row. SELECT on the whole table, because the row's xmin is read too; UPDATE of two columns.
GRANT SELECT, UPDATE (:"mode_column", :"changed_at_column") ON :"schema".:"control_table" TO :"control_role";

-- To name who holds or awaits the gate (other sessions in pg_stat_activity) and to see whether the synchronous
-- standbys are there (pg_stat_replication).
GRANT pg_read_all_stats TO :"control_role";

-- So that a deadlock takes the transition, which tries again, and never a writer. Before PostgreSQL 15 only a
-- superuser may set this; transitions then go without.
\if :parameters_can_be_granted
GRANT SET ON PARAMETER deadlock_timeout TO :"control_role";
\endif

-- To end sessions that hold the gate and are idle.
\if :evict
GRANT pg_signal_backend TO :"control_role";
\endif
COMMIT;
