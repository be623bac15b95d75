-- Hold a sheet's backfill until the transaction ends; a second runner waits, also before there is a checkpoint to lock.
-- Locks: the advisory lock of the sheet's backfill.
-- Index: none.
-- Parameters: namespace integer, sheet uuid.
SELECT pg_advisory_xact_lock(%(namespace)s, hashtext(%(sheet)s::text));
