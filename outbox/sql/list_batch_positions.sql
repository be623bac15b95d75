-- List the positions of a range that a consumer works on (events of its kinds whose subject is not parked), and count those
-- that have to wait with a parked subject.
-- Locks: none.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each kind, one_parking_place_per_subject.
-- Parameters: name text, kinds text[], after bigint (exclusive), upto bigint (inclusive).
SELECT COALESCE(array_agg(position.pos ORDER BY position.pos) FILTER (WHERE parked.id IS NULL), '{}'), count(parked.id)
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
LEFT JOIN outbox_parkedsubject AS parked ON parked.consumer_id = %(name)s AND parked.subject = event.subject
WHERE position.pos > %(after)s AND position.pos <= %(upto)s
  AND event.kind = ANY (%(kinds)s)
