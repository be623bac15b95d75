-- Give the right to change the schema back.
-- Locks: none. Index: none.
-- Parameters: key bigint.
SELECT pg_advisory_unlock(%(key)s)
