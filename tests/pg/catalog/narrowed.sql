-- A table whose rule names columns, and ways to it that do or do not assign them; partitions; an event trigger.
CREATE SCHEMA narrowed AUTHORIZATION app;
CREATE TABLE narrowed.wallets (id integer PRIMARY KEY, coins integer DEFAULT 0, bio text);
INSERT INTO narrowed.wallets SELECT n FROM generate_series(1, 20) n;
CREATE VIEW narrowed.profiles AS SELECT id, bio AS "About me", coins AS "My coins" FROM narrowed.wallets;
CREATE VIEW narrowed.public_profiles AS SELECT id, "About me" AS about, "My coins" AS shown FROM narrowed.profiles;
CREATE FUNCTION narrowed.describe(wallet integer) RETURNS void LANGUAGE sql
    BEGIN ATOMIC UPDATE narrowed.wallets SET bio = 'x' WHERE id = wallet; END;
CREATE FUNCTION narrowed.pay(wallet integer) RETURNS void LANGUAGE sql
    BEGIN ATOMIC UPDATE narrowed.wallets SET coins = 1 WHERE id = wallet; END;
CREATE FUNCTION narrowed.put(wallet integer) RETURNS void LANGUAGE sql
    BEGIN ATOMIC INSERT INTO narrowed.wallets (id) VALUES (wallet) ON CONFLICT (id) DO UPDATE SET coins = 2; END;
CREATE FUNCTION narrowed.locked() RETURNS bigint LANGUAGE sql
    BEGIN ATOMIC SELECT id FROM public.teams LIMIT 1 FOR UPDATE; END;
CREATE FUNCTION narrowed.looked() RETURNS bigint LANGUAGE sql
    BEGIN ATOMIC SELECT count(*) FROM public.teams; END;

CREATE TABLE narrowed.deeds (id integer, day integer) PARTITION BY RANGE (day);
CREATE TABLE narrowed.deeds_1 PARTITION OF narrowed.deeds FOR VALUES FROM (0) TO (10);
CREATE TABLE narrowed.deeds_2 PARTITION OF narrowed.deeds FOR VALUES FROM (10) TO (20);
CREATE FUNCTION narrowed.on_deed() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO public.kudos_ledger (user_id, amount) VALUES (1, 1); RETURN NEW; END $$;
CREATE TRIGGER paid AFTER INSERT ON narrowed.deeds_2 FOR EACH ROW EXECUTE FUNCTION narrowed.on_deed();
INSERT INTO narrowed.deeds SELECT n, 1 FROM generate_series(1, 20) n;

GRANT ALL ON ALL TABLES IN SCHEMA narrowed TO app;
