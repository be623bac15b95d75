-- Count the positions from a tick to the end, by the ticks themselves.
-- Locks: none.
-- Index: outbox_tick_pkey, at both ends.
-- Parameters: from_tick bigint.
SELECT (SELECT tick.last_pos FROM outbox_tick AS tick ORDER BY tick.tick_id DESC LIMIT 1) - tick.first_pos + 1
FROM outbox_tick AS tick
WHERE tick.tick_id >= %(from_tick)s
ORDER BY tick.tick_id
LIMIT 1
