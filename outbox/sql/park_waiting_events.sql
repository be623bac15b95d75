-- Set aside the events of a range whose subject is parked already: they wait behind the one that failed.
-- Locks: its own rows; the consumer's row is held.
-- Index: from the few parked subjects by one_event_per_subject_version and the positions' unique seq.
-- Parameters: name text, kinds text[], after bigint (exclusive), upto bigint (inclusive).
INSERT INTO outbox_parkedevent (parked_subject_id, pos)
SELECT parked.id, position.pos
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
JOIN outbox_parkedsubject AS parked ON parked.consumer_id = %(name)s AND parked.subject = event.subject
WHERE position.pos > %(after)s AND position.pos <= %(upto)s
  AND event.kind = ANY (%(kinds)s)
