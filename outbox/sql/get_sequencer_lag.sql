-- How long the oldest event that the sequencer has not numbered yet has been there, in seconds; 0 when there is none.
-- Locks: none. Index: outbox_tick_pkey backwards, events_xid_idx.
-- Parameters: none.
SELECT COALESCE(GREATEST(0, extract(epoch FROM clock_timestamp() - min(either.occurred_at))), 0)::double precision
FROM (VALUES (true)) AS always (is_true)
LEFT JOIN LATERAL (
    SELECT tick.seq_floor, tick.snapshot_xmax, tick.snapshot_xip
    FROM outbox_tick AS tick ORDER BY tick.tick_id DESC LIMIT 1
) AS head ON always.is_true
LEFT JOIN LATERAL (
    (SELECT event.occurred_at
     FROM outbox_event AS event
     WHERE event.xid >= COALESCE(head.snapshot_xmax, '0'::xid8) AND event.seq > COALESCE(head.seq_floor, 0)
     ORDER BY event.xid LIMIT 1)
    UNION ALL
    (SELECT event.occurred_at
     FROM outbox_event AS event
     WHERE event.xid = ANY (head.snapshot_xip) AND event.seq > head.seq_floor
     ORDER BY event.xid LIMIT 1)
) AS either ON always.is_true
