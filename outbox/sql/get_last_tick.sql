-- Read the last tick: where the next pass begins, and whether it was written by another server, whose transaction ids were
-- further than this one's are: a server never hands out an id twice, so its own ticks are always behind its snapshot.
-- Locks: none.
-- Index: outbox_tick_pkey, backwards, one row.
-- Parameters: none.
SELECT tick.tick_id, tick.epoch, tick.shard, tick.last_pos, tick.seq_floor,
       tick.snapshot_xmax::text, tick.snapshot_xip::text[], tick.digest,
       tick.snapshot_xmax > pg_snapshot_xmax(pg_current_snapshot()) AS is_foreign
FROM outbox_tick AS tick
ORDER BY tick.tick_id DESC
LIMIT 1
