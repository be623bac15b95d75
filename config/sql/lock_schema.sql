-- Take the right to change the schema, after whoever has it now.
-- Locks: an advisory lock. Index: none.
-- Parameters: key bigint.
SELECT pg_advisory_lock(%(key)s)
