-- Hold a term alone, until the transaction ends: waits for everybody who is writing marks in it, and lets nobody new begin.
-- Locks: the advisory lock of the term, exclusively.
-- Index: none.
-- Parameters: namespace integer, term uuid.
SELECT pg_advisory_xact_lock(%(namespace)s, hashtext(%(term)s::text));
