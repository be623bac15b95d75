-- Forget processes that ended without saying so. Nothing depends on these rows: a lease and a sign of life stand on their own.
-- Locks: the rows it deletes.
-- Index: none needed, a row a process.
-- Parameters: seconds double precision.
DELETE FROM outbox_heartbeat AS heartbeat
WHERE heartbeat.seen_at < clock_timestamp() - make_interval(secs => %(seconds)s);
