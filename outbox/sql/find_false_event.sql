-- Find the first position in a range whose event is not what was numbered: removed, altered, or out of order.
-- Locks: none.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event.
-- Parameters: first bigint, last bigint (both inclusive).
SELECT number.pos, position.seq, event.event_id, event.kind, event.subject,
       CASE
           WHEN position.pos IS NULL THEN 'position removed'
           WHEN event.seq IS NULL THEN 'event removed'
           WHEN outbox_event_digest(event) <> position.digest THEN 'event altered'
       END AS fault
FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS number (pos)
LEFT JOIN outbox_eventposition AS position
    ON position.pos = number.pos AND position.pos BETWEEN %(first)s AND %(last)s
LEFT JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos IS NULL OR event.seq IS NULL OR outbox_event_digest(event) <> position.digest
ORDER BY number.pos
LIMIT 1
