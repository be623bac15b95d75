-- Note down every thing of a span: the test projection's work while a rebuild fills it.
-- Locks: its own rows. Index: outbox_eventposition_pkey, outbox_event_pkey.
-- Parameters: first and last bigint, kinds text[]; {things_noted}, the table.
INSERT INTO {things_noted} (pos, subject, version, note)
SELECT position.pos, event.subject, event.subject_version, event.payload ->> 'note'
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos BETWEEN %(first)s AND %(last)s AND event.kind = ANY (%(kinds)s::text[])
{on_repeat}
