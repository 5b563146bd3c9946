-- The role of the application on a horde's ledger: what its writers and its projector do, and not the change of the
-- mode, which belongs to the control role. The sidecar itself asks nothing of this role: its pins call
-- functions that everybody may call. Run as the owner of the tables in the gated database; it may be repeated.
--
--   psql -d horde -v app_role=horde_app -f app-role.sql
--
-- -v schema=NAME where the tables are not in public; -v flips=on for an application that changes the mode itself.
-- Its other tables are its own affair.
\set ON_ERROR_STOP on
\if :{?app_role} \else \set app_role horde_app \endif
\if :{?schema} \else \set schema public \endif
\if :{?flips} \else \set flips off \endif

BEGIN;
SELECT format('CREATE ROLE %I LOGIN', :'app_role')
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = :'app_role') \gexec

GRANT CONNECT ON DATABASE :"DBNAME" TO :"app_role";
GRANT USAGE ON SCHEMA :"schema" TO :"app_role";
SET LOCAL search_path = :"schema";

-- Postings are appended; the projector locks them and marks them as folded. Nobody changes or deletes one.
GRANT SELECT, INSERT, UPDATE (applied) ON kudos_ledger TO :"app_role";
GRANT INSERT ON kudos_stat_events TO :"app_role";
GRANT SELECT, INSERT, DELETE ON kudos_reservations TO :"app_role";

-- The balances.
GRANT SELECT, UPDATE (kudos, evaluating_kudos) ON users TO :"app_role";
GRANT SELECT, UPDATE (quantity) ON user_stats TO :"app_role";
GRANT SELECT, UPDATE (folded) ON kudos_ledger_applier_state TO :"app_role";

-- The mode is read with FOR KEY SHARE, for which the server demands UPDATE on at least one column: the one
-- that says when it was changed, not the mode and not the key.
GRANT SELECT, UPDATE (changed_at) ON kudos_ledger_control TO :"app_role";
\if :flips
GRANT UPDATE (mode) ON kudos_ledger_control TO :"app_role";
\endif
COMMIT;
