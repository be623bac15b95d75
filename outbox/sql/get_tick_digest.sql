-- Read one tick's digest.
-- Locks: none.
-- Index: outbox_tick_pkey.
-- Parameters: tick_id bigint.
SELECT tick.digest FROM outbox_tick AS tick WHERE tick.tick_id = %(tick_id)s
