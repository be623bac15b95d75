-- Bound how long this session waits for any lock, until it is told otherwise.
-- Locks: none. Index: none.
-- Parameters: patience text, with its unit; 0 for no bound.
SELECT set_config('lock_timeout', %(patience)s, false)
