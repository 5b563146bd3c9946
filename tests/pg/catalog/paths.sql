-- One hidden way to the ledger of each kind: no statement of the tests names a configured table.
-- Made as `app`, so that row level security lets the oracle see what views and functions read.
CREATE SCHEMA hidden AUTHORIZATION app;
SET ROLE app;
SET search_path = hidden, public;

-- Views, also over views, and a view that can be written through.
CREATE VIEW postings AS SELECT event_id, user_id, amount FROM public.kudos_ledger;
CREATE VIEW "Big postings" AS SELECT event_id, amount FROM postings WHERE amount >= 0;
CREATE MATERIALIZED VIEW totals AS SELECT user_id, sum(amount) AS amount FROM postings GROUP BY user_id;

-- Rules.
CREATE TABLE requests (id integer, user_id integer);
CREATE RULE also_post AS ON INSERT TO requests
    DO ALSO INSERT INTO public.kudos_ledger (user_id, amount) VALUES (NEW.user_id, 1);

-- Functions and procedures, calling one another.
CREATE FUNCTION post(account integer) RETURNS void LANGUAGE sql
    AS $$ INSERT INTO public.kudos_ledger (user_id, amount, note) VALUES (account, 1, 'sql') $$;
CREATE FUNCTION post_twice(account integer) RETURNS void LANGUAGE plpgsql
    AS $$ BEGIN PERFORM hidden.post(account); PERFORM hidden.post(account); END $$;
CREATE FUNCTION balance(account integer) RETURNS numeric LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT sum(amount) FROM public.kudos_ledger WHERE user_id = account; END;
CREATE FUNCTION balance_text(account integer) RETURNS text LANGUAGE sql STABLE RETURN hidden.balance(account)::text;
CREATE PROCEDURE settle(account integer) LANGUAGE plpgsql
    AS $$ BEGIN PERFORM hidden.post_twice(account); COMMIT; PERFORM hidden.post(account); END $$;
CREATE FUNCTION by_text(account integer) RETURNS void LANGUAGE plpgsql
    AS $$ BEGIN EXECUTE 'insert into public.kudos_ledger (user_id, amount) values ($1, 1)' USING account; END $$;

-- Triggers: one for all updates, one for a column.
CREATE TABLE deeds (id integer PRIMARY KEY, user_id integer, done boolean DEFAULT false, note text);
INSERT INTO deeds SELECT n, n FROM generate_series(1, 20) n;
CREATE FUNCTION on_deed() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM hidden.post(NEW.user_id); RETURN NEW; END $$;
CREATE TRIGGER paid AFTER INSERT OR UPDATE OF done ON deeds FOR EACH ROW EXECUTE FUNCTION on_deed();
CREATE TABLE quiet (id integer PRIMARY KEY, user_id integer);
CREATE TRIGGER off AFTER INSERT ON quiet FOR EACH ROW EXECUTE FUNCTION on_deed();
ALTER TABLE quiet DISABLE TRIGGER off;
CREATE VIEW deed_list AS SELECT id, user_id FROM deeds;
CREATE FUNCTION on_list() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN PERFORM hidden.post(OLD.user_id); RETURN OLD; END $$;
CREATE TRIGGER instead INSTEAD OF DELETE ON deed_list FOR EACH ROW EXECUTE FUNCTION on_list();

-- Defaults, generated columns and checks that call a function.
CREATE FUNCTION last_amount() RETURNS numeric LANGUAGE sql VOLATILE
    AS $$ SELECT max(amount) FROM public.kudos_ledger $$;
CREATE FUNCTION is_known(account integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN RETURN EXISTS (SELECT FROM public.kudos_ledger WHERE user_id = account); END $$;
CREATE TABLE quotes (id integer, amount numeric DEFAULT last_amount());
CREATE TABLE checked (user_id integer CHECK (is_known(user_id)));
CREATE TABLE generated (user_id integer, known boolean GENERATED ALWAYS AS (is_known(user_id)) STORED);
CREATE TABLE indexed (user_id integer);
CREATE INDEX indexed_known ON indexed (is_known(user_id));
CREATE DOMAIN account AS integer CHECK (is_known(VALUE));
CREATE TABLE with_domain (user_id account);

-- A policy.
CREATE TABLE guarded (id integer, user_id integer);
INSERT INTO guarded VALUES (1, 1);
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
ALTER TABLE guarded FORCE ROW LEVEL SECURITY;
CREATE POLICY known ON guarded USING (is_known(user_id)) WITH CHECK (true);

-- An operator and an aggregate.
CREATE FUNCTION same_account(a integer, b integer) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RETURN a = b AND hidden.is_known(a); END $$;
CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = integer, FUNCTION = same_account);
CREATE FUNCTION add_balance(sum numeric, account integer) RETURNS numeric LANGUAGE plpgsql
    AS $$ BEGIN RETURN sum + coalesce(hidden.balance(account), 0); END $$;
CREATE AGGREGATE total_balance (integer) (SFUNC = add_balance, STYPE = numeric, INITCOND = 0);
RESET ROLE;

-- What only the owner of a ledger table can make.
SET search_path = hidden, public;
CREATE TABLE accounts (id integer PRIMARY KEY);
INSERT INTO accounts SELECT n FROM generate_series(1, 100) n;
CREATE TABLE parents (id integer PRIMARY KEY);
INSERT INTO parents SELECT n FROM generate_series(1, 100) n;
ALTER TABLE public.kudos_ledger ADD account_id integer REFERENCES accounts ON DELETE CASCADE;
ALTER TABLE public.kudos_stat_events ADD parent_id integer REFERENCES parents ON UPDATE CASCADE ON DELETE SET NULL;
CREATE TABLE old_postings () INHERITS (public.kudos_ledger);
ALTER TABLE old_postings ENABLE ROW LEVEL SECURITY;
CREATE POLICY oracle_read ON old_postings USING ((SELECT oracle.record('read', 'old_postings'))) WITH CHECK (true);
INSERT INTO old_postings (event_id, user_id, amount) VALUES (-1, 1, 0);
CREATE FUNCTION change_mode(wanted text) RETURNS void LANGUAGE plpgsql
    AS $$ BEGIN UPDATE public.kudos_ledger_control SET mode = wanted WHERE id = 1; END $$;
CREATE FUNCTION built(name text) RETURNS bigint LANGUAGE plpgsql
    AS $$ DECLARE n bigint; BEGIN EXECUTE format('select count(*) from %I', name) INTO n; RETURN n; END $$;
GRANT ALL ON ALL TABLES IN SCHEMA hidden TO app;
ALTER ROLE app SET search_path = hidden, public;
