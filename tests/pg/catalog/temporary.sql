-- A session's temporary ways to the ledger.
CREATE FUNCTION pg_temp.read_it() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM public.kudos_ledger $$;
CREATE FUNCTION pg_temp.known(account integer) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RETURN EXISTS (SELECT FROM public.kudos_ledger WHERE user_id = account); END $$;
CREATE PROCEDURE pg_temp.post_it() LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1); END $$;
CREATE DOMAIN pg_temp.account AS integer CHECK (pg_temp.known(VALUE));
CREATE TEMP VIEW news AS SELECT * FROM public.kudos_ledger;
CREATE TEMP TABLE deeds (id integer);
CREATE FUNCTION pg_temp.on_deed() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1); RETURN NEW; END $$;
CREATE TRIGGER paid AFTER INSERT ON deeds FOR EACH ROW EXECUTE FUNCTION pg_temp.on_deed();
CREATE FUNCTION pg_temp.same(a integer, b integer) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RETURN a = b AND EXISTS (SELECT FROM public.kudos_ledger); END $$;
CREATE OPERATOR pg_temp.=== (LEFTARG = integer, RIGHTARG = integer, FUNCTION = pg_temp.same);
