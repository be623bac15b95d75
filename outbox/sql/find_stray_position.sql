-- Find the first position beyond the last tick: no pass of the sequencer gave it.
-- Locks: none.
-- Index: outbox_eventposition_pkey, outbox_tick_pkey backwards.
-- Parameters: none.
SELECT position.pos, position.seq
FROM outbox_eventposition AS position
WHERE position.pos > COALESCE(
    (SELECT tick.last_pos FROM outbox_tick AS tick ORDER BY tick.tick_id DESC LIMIT 1), 0)
ORDER BY position.pos
LIMIT 1
