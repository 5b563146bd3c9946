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

-- Hidden ways: nothing here is configured, the catalog leads to the ledger. Made as `app`, so that row level security
-- lets the oracle see what the view reads.
SET ROLE app;
CREATE VIEW openings AS SELECT event_id, user_id, amount FROM kudos_ledger WHERE entry_type = 'opening';
CREATE FUNCTION owed(account integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT count(*) FROM openings WHERE user_id = account);
END
$$;
CREATE TABLE deeds (id integer PRIMARY KEY, user_id integer NOT NULL DEFAULT 3);
CREATE FUNCTION reward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO kudos_ledger (user_id, amount, note) VALUES (NEW.user_id, 0, 'reward');
    RETURN NULL;
END
$$;
CREATE TRIGGER rewarded AFTER INSERT OR UPDATE ON deeds FOR EACH ROW EXECUTE FUNCTION reward();
CREATE TABLE wishes (id integer);
CREATE RULE granted AS ON INSERT TO wishes DO ALSO INSERT INTO kudos_ledger (user_id, amount) VALUES (4, 0);
CREATE TABLE quotes (id integer, owed bigint DEFAULT owed(2));
RESET ROLE;
CREATE TABLE batches (id integer PRIMARY KEY);
ALTER TABLE kudos_ledger ADD batch integer REFERENCES batches ON DELETE CASCADE ON UPDATE CASCADE;
GRANT SELECT, INSERT, UPDATE, DELETE ON batches TO app;

CREATE PROCEDURE reset_random() LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM later;
    DELETE FROM kudos_ledger;
    DELETE FROM kudos_reservations;
    DELETE FROM kudos_stat_events;
    DELETE FROM batches;
    DELETE FROM deeds;
    DELETE FROM wishes;
    DELETE FROM quotes;
    DELETE FROM users;
    DELETE FROM jobs;
    DELETE FROM kudos_ledger_control;
    PERFORM setval('kudos_ledger_event_id_seq', 1, false), setval('kudos_stat_events_event_id_seq', 1, false),
            setval('kudos_reservations_id_seq', 1, false);
    INSERT INTO users (id, username) SELECT n, 'user ' || n FROM generate_series(1, 8) n;
    INSERT INTO kudos_ledger (entry_type, user_id, amount) SELECT 'opening', n, 0 FROM generate_series(1, 8) n;
    INSERT INTO batches VALUES (1), (2);
    INSERT INTO kudos_ledger (entry_type, user_id, amount, batch) VALUES ('opening', 8, 0, 1), ('opening', 8, 0, 2);
    INSERT INTO kudos_stat_events (user_id, amount) VALUES (8, 0);
    INSERT INTO kudos_reservations (user_id, amount) VALUES (8, 0);
    INSERT INTO jobs (id, payload) SELECT n, 'job ' || n FROM generate_series(1, 8) n;
    INSERT INTO kudos_ledger_control VALUES (1, 'shadow', NULL);
END
$$;
