-- Set aside the events of a range whose subject is parked already: they wait behind the one that failed.
-- Locks: its own rows; the consumer's row is held.
-- Index: outbox_eventposition_pkey, outbox_event_pkey, one_parking_place_per_subject.
-- Parameters: name text, kinds text[], after bigint (exclusive), upto bigint (inclusive).
INSERT INTO outbox_parkedevent (parked_subject_id, pos)
SELECT parked.id, position.pos
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
JOIN outbox_parkedsubject AS parked ON parked.consumer_id = %(name)s AND parked.subject = event.subject
WHERE position.pos > %(after)s AND position.pos <= %(upto)s
  AND event.kind = ANY (%(kinds)s)
