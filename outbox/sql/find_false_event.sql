-- Find the first position in a range whose event is not what was numbered: removed, altered, or moved here from another position.
-- Locks: none.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event. Where one is false, and only there, all positions are
--   asked once whether it was theirs.
-- Parameters: first bigint, last bigint (both inclusive).
WITH first_false AS MATERIALIZED (
    SELECT number.pos, position.pos AS numbered_pos, position.seq, event.seq AS event_seq, event.event_id, event.kind, event.subject,
           outbox_event_digest(event) AS digest
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS number (pos)
    LEFT JOIN outbox_eventposition AS position
        ON position.pos = number.pos AND position.pos BETWEEN %(first)s AND %(last)s
    LEFT JOIN outbox_event AS event ON event.seq = position.seq
    WHERE position.pos IS NULL OR event.seq IS NULL OR outbox_event_digest(event) <> position.digest
    ORDER BY number.pos
    LIMIT 1
)
SELECT found.pos, found.seq, found.event_id, found.kind, found.subject,
       CASE
           WHEN found.numbered_pos IS NULL THEN 'position removed'
           WHEN found.event_seq IS NULL THEN 'event removed'
           WHEN home.pos IS NOT NULL THEN 'event of position ' || home.pos || ' stands'
           ELSE 'event altered'
       END AS fault
FROM first_false AS found
LEFT JOIN LATERAL (
    SELECT min(other.pos) AS pos
    FROM outbox_eventposition AS other
    WHERE found.event_seq IS NOT NULL AND other.digest = found.digest
) AS home ON true
