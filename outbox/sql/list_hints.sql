-- What the relay needs to know of the events at given positions, in order of position: no payload is read.
-- Locks: none.
-- Index: outbox_eventposition_pkey, then outbox_event_pkey.
-- Parameters: positions bigint[], and their first and last bigint.
SELECT position.pos, event.event_id, event.kind, event.tenant_id, event.correlation_id
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos BETWEEN %(first)s AND %(last)s
  AND position.pos = ANY (%(positions)s::bigint[])
ORDER BY position.pos
