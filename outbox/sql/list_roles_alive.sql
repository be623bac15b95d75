-- List the roles that somebody beat for lately.
-- Locks: none.
-- Index: heartbeats_role_idx holds all it needs; the table has a row per process.
-- Parameters: seconds double precision.
SELECT DISTINCT heartbeat.role
FROM outbox_heartbeat AS heartbeat
WHERE heartbeat.seen_at > clock_timestamp() - make_interval(secs => %(seconds)s)
