-- Bound how long this transaction waits for any lock.
-- Locks: none. Index: none.
-- Parameters: patience text, with its unit.
SELECT set_config('lock_timeout', %(patience)s, true)
