-- Write a row for every event of a batch, without any guard against a second time.
-- Locks: its own rows. Index: outbox_eventposition_pkey, outbox_event_pkey.
-- Parameters: positions bigint[], from first to last.
INSERT INTO random_run_tally (pos, subject, version)
SELECT position.pos, event.subject, event.subject_version
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos BETWEEN %(first)s AND %(last)s
  AND position.pos = ANY (%(positions)s::bigint[])
ORDER BY position.pos
