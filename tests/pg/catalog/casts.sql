-- Ways to the ledger through types: casts from types of users, also to built-in ones, and what a
-- value of a type sets
-- in motion when it is made. Made as `app`, as in paths.sql.
CREATE SCHEMA typed AUTHORIZATION app;
SET ROLE app;
SET search_path = typed, public;

CREATE FUNCTION posted() RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RETURN (SELECT count(*) FROM public.kudos_ledger); END $$;
CREATE FUNCTION is_known(account integer) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RETURN EXISTS (SELECT FROM public.kudos_ledger WHERE user_id = account); END $$;

-- One enumeration for each context of a cast.
CREATE TYPE mood AS ENUM ('calm', 'wild');
CREATE FUNCTION mood_number(value mood) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN typed.posted(); END $$;
CREATE CAST (mood AS integer) WITH FUNCTION mood_number(mood);
CREATE TYPE taste AS ENUM ('sweet', 'sour');
CREATE FUNCTION taste_number(value taste) RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RETURN typed.posted(); END $$;
CREATE CAST (taste AS bigint) WITH FUNCTION taste_number(taste) AS ASSIGNMENT;
CREATE TYPE smell AS ENUM ('fresh', 'stale');
CREATE FUNCTION smell_number(value smell) RETURNS numeric LANGUAGE plpgsql
    AS $$ BEGIN RETURN typed.posted(); END $$;
CREATE CAST (smell AS numeric) WITH FUNCTION smell_number(smell) AS IMPLICIT;

CREATE TABLE feelings (id integer, feeling mood, flavour taste, scent smell);
INSERT INTO feelings VALUES (1, 'calm', 'sweet', 'fresh');
CREATE TABLE numbers (small integer, big bigint, exact numeric);
CREATE VIEW feeling_list AS SELECT id, feeling FROM feelings;
CREATE FUNCTION current_mood() RETURNS mood LANGUAGE sql AS $$ SELECT 'calm'::typed.mood $$;
CREATE DOMAIN steady_mood AS mood;
CREATE TABLE steady (feeling steady_mood);
INSERT INTO steady VALUES ('calm');

-- The row type of a table.
CREATE TABLE journal (id integer, note text);
INSERT INTO journal VALUES (1, 'x');
CREATE FUNCTION journal_number(value journal) RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RETURN typed.posted(); END $$;
CREATE CAST (journal AS bigint) WITH FUNCTION journal_number(journal);

-- To a type of a user's.
CREATE TYPE coins AS (amount integer);
CREATE FUNCTION to_coins(value integer) RETURNS coins LANGUAGE plpgsql
    AS $$ BEGIN RETURN ROW(typed.posted()::integer); END $$;
CREATE CAST (integer AS coins) WITH FUNCTION to_coins(integer) AS ASSIGNMENT;
CREATE TABLE purses (content coins);

-- By the text of a value: the type of a part has a check.
CREATE DOMAIN account AS integer CHECK (is_known(VALUE));
CREATE TYPE boxed AS (content account);
CREATE CAST (text AS boxed) WITH INOUT AS ASSIGNMENT;
CREATE TABLE boxes (content boxed);
CREATE TABLE holders (holder account);
CREATE FUNCTION last_holder() RETURNS holders LANGUAGE plpgsql
    AS $$ DECLARE last typed.holders; BEGIN last := ROW(1); RETURN last; END $$;

-- What does not lead there.
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE FUNCTION colour_number(value colour) RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$;
CREATE CAST (colour AS integer) WITH FUNCTION colour_number(colour);
CREATE TABLE paints (id integer, colour colour);
INSERT INTO paints VALUES (1, 'red');
RESET ROLE;
