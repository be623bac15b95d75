-- Hold this worker's sign of life on this connection: a session lock that PostgreSQL drops when the process dies.
-- Locks: the advisory lock (namespace, hash of the incarnation), until the connection ends. Asking again is harmless.
-- Index: none.
-- Parameters: namespace integer, worker uuid.
SELECT EXISTS (
    SELECT FROM pg_locks AS held
    WHERE held.locktype = 'advisory' AND held.granted AND held.pid = pg_backend_pid()
      AND held.classid = %(namespace)s::oid
      AND held.objid::bigint = hashtext(%(worker)s::text)::bigint & 4294967295
) OR pg_try_advisory_lock(%(namespace)s, hashtext(%(worker)s::text));
