-- Find the place of one event in the log, and the tick that sealed it. No row: not numbered yet.
-- Locks: none.
-- Index: outbox_event.event_id, outbox_eventposition.seq, ticks_last_pos_idx.
-- Parameters: event_id uuid.
SELECT tick.epoch, tick.shard, position.pos, tick.tick_id, tick.digest
FROM outbox_event AS event
JOIN outbox_eventposition AS position ON position.seq = event.seq
CROSS JOIN LATERAL (
    SELECT tick.epoch, tick.shard, tick.tick_id, tick.digest
    FROM outbox_tick AS tick
    WHERE tick.last_pos >= position.pos
    ORDER BY tick.last_pos, tick.tick_id
    LIMIT 1
) AS tick
WHERE event.event_id = %(event_id)s
