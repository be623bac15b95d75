-- Read where the log ends. No row: nothing was ever numbered.
-- Locks: none.
-- Index: outbox_tick_pkey, backwards, one row.
-- Parameters: none.
SELECT tick.epoch, tick.shard, tick.last_pos
FROM outbox_tick AS tick
ORDER BY tick.tick_id DESC
LIMIT 1
