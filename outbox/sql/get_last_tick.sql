-- Read the last tick: where the next pass begins.
-- Locks: none.
-- Index: outbox_tick_pkey, backwards, one row.
-- Parameters: none.
SELECT tick.tick_id, tick.epoch, tick.shard, tick.last_pos, tick.seq_floor,
       tick.snapshot_xmax::text, tick.snapshot_xip::text[], tick.digest
FROM outbox_tick AS tick
ORDER BY tick.tick_id DESC
LIMIT 1
