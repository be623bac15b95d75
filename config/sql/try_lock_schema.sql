-- Take the right to change the schema, unless another process has it; it is the session's, and ends with it at the latest.
-- Locks: an advisory lock. Index: none.
-- Parameters: key bigint.
SELECT pg_try_advisory_lock(%(key)s)
