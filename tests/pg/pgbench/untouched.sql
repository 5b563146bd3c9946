\set job random(1, 20)
BEGIN;
SELECT payload FROM jobs WHERE id = :job;
UPDATE jobs SET state = 'done' WHERE id = :job;
COMMIT;
