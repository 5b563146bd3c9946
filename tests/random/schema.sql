-- What random sessions need beside the horde's own tables, and the state each of them starts from.

-- A constraint that is only checked at the end of the transaction: COMMIT itself fails.
CREATE TABLE later_parents (id integer PRIMARY KEY);
CREATE TABLE later (
    id integer,
    parent integer REFERENCES later_parents DEFERRABLE INITIALLY DEFERRED
);
ALTER TABLE kudos_reservations
    ADD CONSTRAINT reservations_have_a_user FOREIGN KEY (user_id) REFERENCES users DEFERRABLE INITIALLY DEFERRED;

-- What a writer that knows the modes does: in mode shadow the balance moves with the posting, in mode ledger the
-- posting waits for the fold. Its mode, its posting and its balance are of one transaction, but not of one statement.
CREATE FUNCTION post_by_mode(account integer, credit numeric) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    seen text;
BEGIN
    SELECT mode INTO seen FROM kudos_ledger_control WHERE id = 1;
    INSERT INTO kudos_ledger (user_id, amount, applied, note) VALUES (account, credit, seen = 'shadow', 'by mode');
    IF seen = 'shadow' THEN
        UPDATE users SET kudos = kudos + credit WHERE id = account;
    END IF;
    RETURN 'posted';
END
$$;

CREATE PROCEDURE post_twice(account integer) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO kudos_ledger (user_id, amount) VALUES (account, 0);
    COMMIT;
    PERFORM event_id FROM kudos_ledger WHERE user_id = account;
    INSERT INTO kudos_ledger (user_id, amount) VALUES (account, 0);
    ROLLBACK;
    INSERT INTO kudos_ledger (user_id, amount) VALUES (account, 0);
END
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON later, later_parents TO app;

CREATE PROCEDURE reset_random() LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM later;
    DELETE FROM kudos_ledger;
    DELETE FROM kudos_reservations;
    DELETE FROM kudos_stat_events;
    DELETE FROM users;
    DELETE FROM jobs;
    DELETE FROM kudos_ledger_control;
    PERFORM setval('kudos_ledger_event_id_seq', 1, false), setval('kudos_stat_events_event_id_seq', 1, false),
            setval('kudos_reservations_id_seq', 1, false);
    INSERT INTO users (id, username) SELECT n, 'user ' || n FROM generate_series(1, 8) n;
    INSERT INTO kudos_ledger (entry_type, user_id, amount) SELECT 'opening', n, 0 FROM generate_series(1, 8) n;
    INSERT INTO kudos_stat_events (user_id, amount) VALUES (8, 0);
    INSERT INTO kudos_reservations (user_id, amount) VALUES (8, 0);
    INSERT INTO jobs (id, payload) SELECT n, 'job ' || n FROM generate_series(1, 8) n;
    INSERT INTO kudos_ledger_control VALUES (1, 'shadow', NULL);
END
$$;
