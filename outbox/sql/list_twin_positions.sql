-- List the positions of a range that a twin has to hold, to equal the live table at the same cursor: the consumer's kinds,
-- without the events that wait with a parked subject. The second list is those.
-- Locks: none.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each kind, an_event_is_parked_once.
-- Parameters: name text, kinds text[], after bigint (exclusive), upto bigint (inclusive).
SELECT COALESCE(array_agg(position.pos ORDER BY position.pos) FILTER (WHERE waiting.pos IS NULL), '{}'),
       COALESCE(array_agg(position.pos ORDER BY position.pos) FILTER (WHERE waiting.pos IS NOT NULL), '{}')
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
LEFT JOIN (
    SELECT parked_event.pos
    FROM outbox_parkedevent AS parked_event
    JOIN outbox_parkedsubject AS parked ON parked.id = parked_event.parked_subject_id
    WHERE parked.consumer_id = %(name)s
) AS waiting ON waiting.pos = position.pos
WHERE position.pos > %(after)s AND position.pos <= %(upto)s
  AND event.kind = ANY (%(kinds)s)
