-- Read the events after a position, in order: one range of positions, each with its event.
-- Locks: none.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event.
-- Parameters: after bigint (exclusive), limit integer.
SELECT position.pos, event.event_id, event.kind, event.schema_version, event.subject, event.subject_version,
       event.tenant_id, event.actor_type, event.actor_id, event.batch_id, event.cause_id, event.correlation_id,
       event.occurred_at, event.payload
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos > %(after)s AND position.pos <= %(after)s + %(limit)s -- dense, so this is LIMIT in a form the planner counts
ORDER BY position.pos
