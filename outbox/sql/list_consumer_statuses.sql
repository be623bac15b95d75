-- How far consumers are, and how old the oldest event is that each has not applied yet. Costs a few index probes a consumer,
-- however long the log is and however far behind they are.
-- An event is waiting since it could be read: since it occurred, or, when its transaction was long, since the last tick that
-- did not have it. Events that the sequencer has not numbered yet count too, so a dead sequencer shows here as well.
-- Locks: none.
-- Index: outbox_consumer_pkey, outbox_tick_pkey backwards, ticks_last_pos_idx, outbox_eventposition_pkey, outbox_event_pkey,
--   events_xid_idx.
-- Parameters: names text[].
SELECT asked.name, COALESCE(consumer.state, 'running'), COALESCE(consumer.generation, 1),
       COALESCE(consumer.epoch, head.epoch, 0), COALESCE(consumer.shard, 0), COALESCE(consumer.position, 0),
       COALESCE(head.epoch, 0), COALESCE(head.shard, 0), COALESCE(head.last_pos, 0),
       CASE
           WHEN COALESCE(next.occurred_at, unnumbered.occurred_at) IS NULL THEN 0 -- GREATEST would pass over the null
           ELSE GREATEST(0, extract(epoch FROM clock_timestamp()
               - GREATEST(COALESCE(next.occurred_at, unnumbered.occurred_at), before.at)))
       END::double precision,
       extract(epoch FROM consumer.staleness_budget)::double precision,
       consumer.heartbeat_at, COALESCE(consumer.is_filling, false),
       (SELECT count(*) FROM outbox_parkedsubject AS parked WHERE parked.consumer_id = asked.name)
FROM unnest(%(names)s::text[]) WITH ORDINALITY AS asked (name, place)
LEFT JOIN outbox_consumer AS consumer ON consumer.name = asked.name
LEFT JOIN LATERAL (
    SELECT tick.epoch, tick.shard, tick.last_pos, tick.seq_floor, tick.snapshot_xmax, tick.snapshot_xip
    FROM outbox_tick AS tick ORDER BY tick.tick_id DESC LIMIT 1
) AS head ON true
LEFT JOIN LATERAL (
    SELECT event.occurred_at
    FROM outbox_eventposition AS position
    JOIN outbox_event AS event ON event.seq = position.seq
    WHERE position.pos = COALESCE(consumer.position, 0) + 1
) AS next ON true
LEFT JOIN LATERAL (
    SELECT tick.at
    FROM outbox_tick AS tick
    WHERE tick.last_pos <= COALESCE(consumer.position, 0)
    ORDER BY tick.last_pos DESC, tick.tick_id DESC
    LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
    SELECT min(either.occurred_at) AS occurred_at
    FROM (
        (SELECT event.occurred_at
         FROM outbox_event AS event
         WHERE event.xid >= COALESCE(head.snapshot_xmax, '0'::xid8) AND event.seq > COALESCE(head.seq_floor, 0)
         ORDER BY event.xid LIMIT 1)
        UNION ALL
        (SELECT event.occurred_at
         FROM outbox_event AS event
         WHERE event.xid = ANY (head.snapshot_xip) AND event.seq > head.seq_floor
         ORDER BY event.xid LIMIT 1)
    ) AS either
) AS unnumbered ON next.occurred_at IS NULL
ORDER BY asked.place
