-- The oracle: an independent witness of every touch, fed by the server and never by the proxy.
--
-- Each witness writes one JSON line to the server log with RAISE LOG. The log is the right place because
-- it is not transactional: a touch whose transaction rolls back leaves its record all the same, a touch in
-- a READ ONLY transaction can be recorded too, nothing is written that could block or conflict, and the
-- client sees nothing of it (LOG is below its client_min_messages).
--
-- What a record says: when, which backend, which transaction (the virtual id, so that none has to be
-- assigned), the mode that the touching statement's own snapshot shows, and what pg_locks says at that
-- moment about the gate key: held by this backend shared, exclusive, or held exclusive by another one.
-- The witness looks at pg_locks and takes no advisory lock itself.
--
-- The functions are STABLE on purpose: a STABLE function reads with the snapshot of the statement that
-- calls it, a VOLATILE one would take a fresh one and could not see that a statement looked too early.
--
-- How touches are caught:
--   writes        BEFORE .. FOR EACH STATEMENT triggers (kind "write"), also for statements without rows
--   end           deferred constraint triggers, at COMMIT or PREPARE (kind "commit"): still pinned then?
--   reads, locks  row level security policies whose condition calls the witness once per statement, when
--                 its scan meets the first row (kinds "read" and "lock"): no client can avoid them
--   transitions   triggers and policies on the control table (kinds "read_control", "lock_control",
--                 "transition", and "changed" with the new mode)
--   steps         SELECT oracle.step('..') as a guard or step of a transition
--
-- What it cannot see: reads that meet no row at all; reads by superusers, table owners and BYPASSRLS roles
-- (policies do not bind them; their writes are seen); reads through a view whose owner may read past the
-- policies; whether a transaction that rolls back or has only read kept its pin after its last touch; and
-- SELECT .. FOR UPDATE against FOR KEY SHARE of the control row (both are "lock_control").

CREATE SCHEMA oracle;
GRANT USAGE ON SCHEMA oracle TO PUBLIC;

-- The gate key of the cluster under test, as pg_locks shows it: two halves, objsubid 1.
CREATE FUNCTION oracle.gate_key() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT 1263879245::bigint $$;

CREATE FUNCTION oracle.record(kind text, object text, new_mode text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
    visible_mode text;
    gate record;
BEGIN
    SELECT c.mode INTO visible_mode FROM public.kudos_ledger_control c WHERE c.id = 1;
    SELECT max(l.virtualtransaction) FILTER (WHERE l.pid = pg_catalog.pg_backend_pid()) AS transaction,
           coalesce(bool_or(l.mode = 'ShareLock') FILTER (WHERE is_gate AND is_mine), false) AS shared,
           coalesce(bool_or(l.mode = 'ExclusiveLock') FILTER (WHERE is_gate AND is_mine), false) AS exclusive,
           coalesce(bool_or(l.mode = 'ExclusiveLock') FILTER (WHERE is_gate AND NOT is_mine), false)
               AS other_exclusive
      INTO gate
      FROM (SELECT s.*, s.pid IS NOT DISTINCT FROM pg_catalog.pg_backend_pid() AS is_mine,
                   s.locktype = 'advisory' AND s.granted AND s.objsubid = 1
                   AND s.classid::bigint = (oracle.gate_key() >> 32) & 4294967295
                   AND s.objid::bigint = oracle.gate_key() & 4294967295
                   AND s.database = (SELECT d.oid FROM pg_catalog.pg_database d
                                      WHERE d.datname = pg_catalog.current_database()) AS is_gate
              FROM pg_catalog.pg_lock_status() s) l;
    RAISE LOG 'oracle %', pg_catalog.json_build_object(
        'at', extract(epoch FROM pg_catalog.clock_timestamp())::text,
        'kind', kind, 'object', object, 'new_mode', new_mode,
        'pid', pg_catalog.pg_backend_pid(), 'transaction', gate.transaction,
        'xid', pg_catalog.pg_current_xact_id_if_assigned()::text,
        'mode', visible_mode,
        'shared', gate.shared, 'exclusive', gate.exclusive, 'other_exclusive', gate.other_exclusive,
        'isolation', pg_catalog.current_setting('transaction_isolation'),
        'read_only', pg_catalog.current_setting('transaction_read_only') = 'on',
        'user', session_user, 'application', pg_catalog.current_setting('application_name'),
        'statement', pg_catalog.left(pg_catalog.current_query(), 200));
    RETURN true;
END
$$;

CREATE FUNCTION oracle.step(name text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN oracle.record('step', name);
END
$$;

CREATE FUNCTION oracle.on_statement() RETURNS trigger LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM oracle.record(TG_ARGV[0], TG_TABLE_NAME);
    RETURN NULL;
END
$$;

CREATE FUNCTION oracle.on_control_row() RETURNS trigger LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM oracle.record('changed', TG_TABLE_NAME,
                          CASE WHEN TG_OP = 'DELETE' THEN 'shadow' ELSE NEW.mode END);
    RETURN NULL;
END
$$;

-- Watches a table by the rule of its name in ledgergate.yaml: any, lock or write (optionally some columns).
CREATE PROCEDURE oracle.watch(watched regclass, rule text, columns text DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
    updated text := CASE WHEN columns IS NULL THEN 'UPDATE' ELSE 'UPDATE OF ' || columns END;
    others text := CASE WHEN columns IS NULL THEN 'INSERT OR DELETE OR TRUNCATE OR ' ELSE '' END;
    others_by_row text := CASE WHEN columns IS NULL THEN 'INSERT OR DELETE OR ' ELSE '' END;
BEGIN
    EXECUTE format('CREATE TRIGGER oracle_write BEFORE %s ON %s FOR EACH STATEMENT '
                   'EXECUTE FUNCTION oracle.on_statement(''write'')', others || updated, watched);
    EXECUTE format('CREATE CONSTRAINT TRIGGER oracle_commit AFTER %s ON %s DEFERRABLE INITIALLY DEFERRED '
                   'FOR EACH ROW EXECUTE FUNCTION oracle.on_statement(''commit'')',
                   others_by_row || updated, watched);
    IF rule = 'write' THEN
        RETURN;
    END IF;
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', watched);
    IF rule = 'any' THEN
        EXECUTE format('CREATE POLICY oracle_read ON %s FOR ALL USING ((SELECT oracle.record(''read'', %L))) '
                       'WITH CHECK (true)', watched, watched::text);
    ELSE
        EXECUTE format('CREATE POLICY oracle_select ON %s FOR SELECT USING (true)', watched);
        EXECUTE format('CREATE POLICY oracle_insert ON %s FOR INSERT WITH CHECK (true)', watched);
        EXECUTE format('CREATE POLICY oracle_delete ON %s FOR DELETE USING (true)', watched);
        EXECUTE format('CREATE POLICY oracle_lock ON %s FOR UPDATE '
                       'USING ((SELECT oracle.record(''lock'', %L))) WITH CHECK (true)', watched, watched::text);
    END IF;
END
$$;

CREATE PROCEDURE oracle.watch_control(watched regclass) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER oracle_transition BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s '
                   'FOR EACH STATEMENT EXECUTE FUNCTION oracle.on_statement(''transition'')', watched);
    EXECUTE format('CREATE TRIGGER oracle_changed AFTER INSERT OR UPDATE OR DELETE ON %s '
                   'FOR EACH ROW EXECUTE FUNCTION oracle.on_control_row()', watched);
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', watched);
    EXECUTE format('CREATE POLICY oracle_read ON %s FOR SELECT '
                   'USING ((SELECT oracle.record(''read_control'', %L)))', watched, watched::text);
    EXECUTE format('CREATE POLICY oracle_lock ON %s FOR UPDATE '
                   'USING ((SELECT oracle.record(''lock_control'', %L))) WITH CHECK (true)',
                   watched, watched::text);
    EXECUTE format('CREATE POLICY oracle_insert ON %s FOR INSERT WITH CHECK (true)', watched);
    EXECUTE format('CREATE POLICY oracle_delete ON %s FOR DELETE USING (true)', watched);
END
$$;

-- Postings against balances: one row for each user whose applied postings are not the balance.
CREATE VIEW oracle.unbalanced AS
    SELECT u.id, u.kudos, coalesce(l.amount, 0) AS posted
      FROM public.users u
      LEFT JOIN (SELECT user_id, sum(amount) AS amount FROM public.kudos_ledger
                  WHERE applied GROUP BY user_id) l
        ON l.user_id = u.id
     WHERE u.kudos <> coalesce(l.amount, 0);

CALL oracle.watch('kudos_ledger', 'any');
CALL oracle.watch('kudos_stat_events', 'any');
CALL oracle.watch('kudos_reservations', 'any');
CALL oracle.watch('kudos_balance_snapshots', 'any');
CALL oracle.watch('users', 'lock');
CALL oracle.watch('user_stats', 'lock');
CALL oracle.watch('user_records', 'lock');
CALL oracle.watch('workers', 'lock');
CALL oracle.watch('worker_stats', 'lock');
CALL oracle.watch('teams', 'lock');
CALL oracle.watch_control('kudos_ledger_control');
