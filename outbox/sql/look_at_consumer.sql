-- Look, without locking anything, whether a consumer has something to do: most looks find nothing, and then nothing is written.
-- Locks: none.
-- Index: outbox_consumer_pkey, outbox_tick_pkey backwards.
-- Parameters: name text.
SELECT consumer.epoch, consumer.shard, consumer.position, consumer.state, consumer.generation,
       COALESCE(tick.epoch, 0), COALESCE(tick.shard, 0), COALESCE(tick.last_pos, 0),
       COALESCE(consumer.heartbeat_at < clock_timestamp() - interval '1 second', true)
FROM outbox_consumer AS consumer
LEFT JOIN LATERAL (
    SELECT tick.epoch, tick.shard, tick.last_pos FROM outbox_tick AS tick ORDER BY tick.tick_id DESC LIMIT 1
) AS tick ON true
WHERE consumer.name = %(name)s
