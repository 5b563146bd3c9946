-- Tables over which DDL and maintenance run what leads to the ledger. Made anew for every test; as
-- `app`, as in paths.sql.
DROP SCHEMA IF EXISTS ddl CASCADE;
CREATE SCHEMA ddl AUTHORIZATION app;
SET ROLE app;
SET search_path = ddl, public;

CREATE FUNCTION posted() RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RETURN (SELECT count(*) FROM public.kudos_ledger); END $$;
CREATE FUNCTION is_known(account bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
    AS $$ BEGIN RETURN EXISTS (SELECT FROM public.kudos_ledger WHERE user_id = account); END $$;
CREATE DOMAIN account AS bigint CHECK (is_known(VALUE));

CREATE TABLE rows (id integer PRIMARY KEY, note text);
INSERT INTO rows SELECT n, 'x' FROM generate_series(1, 3) n;
CREATE TABLE indexed (id integer);
INSERT INTO indexed VALUES (1), (2);
CREATE INDEX indexed_known ON indexed (is_known(id));
CREATE TABLE counted (id integer);
INSERT INTO counted VALUES (1), (2);
CREATE STATISTICS counted_known ON (is_known(id)) FROM counted;
CREATE TABLE checked (id integer);
INSERT INTO checked VALUES (1), (2);
ALTER TABLE checked ADD CONSTRAINT known CHECK (is_known(id)) NOT VALID;
CREATE TABLE valid (id integer CHECK (is_known(id)));
INSERT INTO valid VALUES (1), (2);
CREATE DOMAIN free_account AS bigint;
CREATE DOMAIN late_account AS bigint;
CREATE TABLE domains (free free_account, late late_account);
INSERT INTO domains VALUES (1, 1);
ALTER DOMAIN late_account ADD CONSTRAINT later CHECK (is_known(VALUE)) NOT VALID;
CREATE MATERIALIZED VIEW totals AS SELECT posted() AS n;
CREATE MATERIALIZED VIEW indexed_view AS SELECT id FROM rows;
CREATE INDEX ON indexed_view (is_known(id));
CREATE TABLE parts (id bigint) PARTITION BY LIST (id);
CREATE TABLE loose (id bigint);
INSERT INTO loose VALUES (5);
CREATE INDEX ON parts (is_known(id));
CREATE TABLE bounded (id bigint) PARTITION BY LIST (id);
RESET ROLE;
