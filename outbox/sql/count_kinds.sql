-- Count the events of each kind in a batch or a span.
-- Locks: none.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event.
-- Parameters: first and last bigint; listed bigint[], the positions, or NULL for all from first to last;
--   first_seq and last_seq bigint, between which their events lie, or NULL for a few events; kinds text[], or NULL for all.
SELECT event.kind, count(*)
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos BETWEEN %(first)s AND %(last)s
  AND (%(listed)s::bigint[] IS NULL OR position.pos = ANY (%(listed)s::bigint[]))
  AND (%(first_seq)s::bigint IS NULL OR event.seq BETWEEN %(first_seq)s AND %(last_seq)s)
  AND (%(kinds)s::text[] IS NULL OR event.kind = ANY (%(kinds)s::text[]))
GROUP BY event.kind
