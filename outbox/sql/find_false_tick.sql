-- Find the first tick in a range that does not follow from the one before it and the digests of its positions.
-- A tick that is right in itself may still hold positions out of order: within a tick they follow the sequence.
-- Locks: none.
-- Index: outbox_tick_pkey, outbox_eventposition_pkey.
-- Parameters: first bigint, last bigint (ticks, both inclusive).
SELECT tick.tick_id, tick.first_pos, tick.last_pos,
       CASE
           WHEN before.tick_id IS NULL AND tick.tick_id > 1 THEN 'the tick before it was removed'
           WHEN tick.first_pos <> COALESCE(before.last_pos, 0) + 1 THEN 'its positions do not follow the tick before it'
           WHEN NOT held.in_order THEN 'its positions are not in the order of the sequence'
           ELSE 'its digest does not seal its events'
       END AS fault
FROM outbox_tick AS tick
LEFT JOIN outbox_tick AS before ON before.tick_id = tick.tick_id - 1
CROSS JOIN LATERAL (
    SELECT sha256(COALESCE(before.digest, ''::bytea)
                  || COALESCE(string_agg(position.digest, ''::bytea ORDER BY position.pos), ''::bytea)) AS digest,
           COALESCE(array_agg(position.seq ORDER BY position.pos) = array_agg(position.seq ORDER BY position.seq), true)
               AS in_order
    FROM outbox_eventposition AS position
    WHERE position.pos BETWEEN tick.first_pos AND tick.last_pos
) AS held
WHERE tick.tick_id BETWEEN %(first)s AND %(last)s
  AND ((before.tick_id IS NULL AND tick.tick_id > 1)
       OR tick.first_pos <> COALESCE(before.last_pos, 0) + 1
       OR NOT held.in_order
       OR held.digest <> tick.digest)
ORDER BY tick.tick_id
LIMIT 1
