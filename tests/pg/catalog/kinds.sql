-- For each kind of link of the closure one way to the ledger that needs it. As `app`, as in
-- paths.sql; made anew for
-- every test.
DROP SCHEMA IF EXISTS kinds CASCADE;
CREATE SCHEMA kinds AUTHORIZATION app;
SET ROLE app;
SET search_path = kinds, public;

CREATE FUNCTION known(account integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN RETURN EXISTS (SELECT FROM public.kudos_ledger WHERE user_id = account); END $$;
CREATE FUNCTION amount() RETURNS integer LANGUAGE plpgsql
    AS $$ BEGIN RETURN (SELECT count(*) FROM public.kudos_ledger); END $$;
CREATE FUNCTION pay() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1); RETURN coalesce(NEW, OLD); END $$;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;

CREATE VIEW news AS SELECT * FROM public.kudos_ledger;
CREATE MATERIALIZED VIEW totals AS SELECT count(*) FROM public.kudos_ledger;
CREATE TABLE requests (id integer);
CREATE RULE post AS ON INSERT TO requests DO ALSO INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1);
CREATE TABLE parts (id integer) PARTITION BY LIST (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TRIGGER paid AFTER INSERT ON parts_1 FOR EACH ROW EXECUTE FUNCTION pay();
CREATE TABLE elders (id integer);
CREATE TABLE heirs () INHERITS (elders);
INSERT INTO heirs VALUES (1);
CREATE TRIGGER paid AFTER DELETE ON heirs FOR EACH ROW EXECUTE FUNCTION pay();
CREATE TABLE deeds (id integer);
CREATE TRIGGER paid AFTER INSERT ON deeds FOR EACH ROW EXECUTE FUNCTION pay();
CREATE TABLE wishes (id integer);
CREATE TRIGGER heard AFTER INSERT ON wishes FOR EACH ROW WHEN (kinds.known(NEW.id)) EXECUTE FUNCTION nothing();

CREATE FUNCTION by_sql() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM public.kudos_ledger $$;
CREATE FUNCTION by_standard() RETURNS bigint LANGUAGE sql
    BEGIN ATOMIC SELECT count(*) FROM public.kudos_ledger; END;
CREATE PROCEDURE settle() LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1); END $$;
CREATE FUNCTION plus_known(sum integer, account integer) RETURNS integer LANGUAGE plpgsql
    AS $$ BEGIN RETURN sum + kinds.known(account)::integer; END $$;
CREATE AGGREGATE how_many_known (integer) (SFUNC = plus_known, STYPE = integer, INITCOND = 0);

CREATE TABLE quotes (id integer, amount integer DEFAULT amount());
CREATE TABLE derived (id integer, known boolean GENERATED ALWAYS AS (known(id)) STORED);
CREATE TABLE checked (id integer CHECK (known(id)));
CREATE TABLE indexed (id integer);
INSERT INTO indexed VALUES (1), (2);
CREATE INDEX indexed_known ON indexed (known(id));
CREATE TABLE counted (id integer);
INSERT INTO counted VALUES (1), (2);
CREATE STATISTICS counted_known ON (known(id)) FROM counted;
CREATE TABLE guarded (id integer);
INSERT INTO guarded VALUES (1);
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
ALTER TABLE guarded FORCE ROW LEVEL SECURITY;
CREATE POLICY known ON guarded USING (known(id));
CREATE FUNCTION same(a integer, b integer) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RETURN a = b AND kinds.known(a); END $$;
CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = integer, FUNCTION = same);

CREATE DOMAIN account AS integer CHECK (known(VALUE));
CREATE TABLE holders (holder account);
CREATE TYPE mood AS ENUM ('calm', 'wild');
CREATE FUNCTION mood_number(value mood) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN kinds.amount(); END $$;
CREATE CAST (mood AS integer) WITH FUNCTION mood_number(mood);
CREATE TABLE journal (id integer);
INSERT INTO journal VALUES (1);
CREATE FUNCTION journal_number(value journal) RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RETURN kinds.amount(); END $$;
CREATE CAST (journal AS bigint) WITH FUNCTION journal_number(journal);
CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE FUNCTION compare_shades(a shade, b shade) RETURNS integer LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN PERFORM kinds.known(1); RETURN enum_cmp(a, b); END $$;
CREATE TABLE paints (shade shade);
INSERT INTO paints VALUES ('light');
RESET ROLE;

-- What only a superuser or the owner of the ledger can make.
CREATE OPERATOR CLASS shade_order FOR TYPE kinds.shade USING btree
    AS FUNCTION 1 kinds.compare_shades(kinds.shade, kinds.shade);
CREATE INDEX ON kinds.paints (shade shade_order);
CREATE TABLE kinds.parents (id integer PRIMARY KEY);
INSERT INTO kinds.parents VALUES (1);
ALTER TABLE public.kudos_ledger ADD COLUMN IF NOT EXISTS parent integer;
ALTER TABLE public.kudos_ledger ADD CONSTRAINT to_parents
    FOREIGN KEY (parent) REFERENCES kinds.parents ON DELETE CASCADE;
UPDATE public.kudos_ledger SET parent = 1 WHERE event_id = 1;
GRANT ALL ON kinds.parents TO app;
CREATE FUNCTION kinds.on_ddl() RETURNS event_trigger LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1); END $$;
