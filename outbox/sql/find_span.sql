-- Find between which sequence numbers the events of a range of positions lie; events of other positions may lie between them too.
-- The count is there for the planner alone: without it, it would take both ends from the index of the sequence numbers, and walk that
-- from the beginning of the log until it meets one of the range.
-- Locks: none. Index: outbox_eventposition_pkey.
-- Parameters: first and last bigint.
SELECT COALESCE(min(position.seq), 0), COALESCE(max(position.seq), 0), count(*)
FROM outbox_eventposition AS position
WHERE position.pos BETWEEN %(first)s AND %(last)s
