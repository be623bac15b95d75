-- Read the events at given positions, in order of position.
-- Locks: none.
-- Index: outbox_eventposition_pkey, then outbox_event_pkey.
-- Parameters: positions bigint[], and their first and last bigint: with the list alone the planner reads every position.
SELECT position.pos, event.event_id, event.kind, event.schema_version, event.subject, event.subject_version,
       event.tenant_id, event.actor_type, event.actor_id, event.batch_id, event.cause_id, event.correlation_id,
       event.occurred_at, event.payload
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos BETWEEN %(first)s AND %(last)s
  AND position.pos = ANY (%(positions)s::bigint[])
ORDER BY position.pos
