-- Note down every thing of a batch: the test projection's whole work. A note "poison" breaks the table's check.
-- Locks: its own rows. Index: outbox_eventposition_pkey, outbox_event_pkey.
-- Parameters: positions bigint[]; {things_noted}, the table.
INSERT INTO {things_noted} (pos, subject, version, note)
SELECT position.pos, event.subject, event.subject_version, event.payload ->> 'note'
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos = ANY (%(positions)s::bigint[])
ORDER BY position.pos
