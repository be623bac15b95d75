-- Write one process's sign of life; the first beat makes the row.
-- Locks: its own row.
-- Index: outbox_heartbeat_pkey.
-- Parameters: incarnation uuid, role text, pid integer, host text.
INSERT INTO outbox_heartbeat (incarnation, role, pid, host, started_at, seen_at)
VALUES (%(incarnation)s, %(role)s, %(pid)s, %(host)s, clock_timestamp(), clock_timestamp())
ON CONFLICT (incarnation) DO UPDATE SET seen_at = excluded.seen_at
