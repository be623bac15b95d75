-- Find the first event that slipped in behind the sequencer's back: it was there at the last tick, by its transaction id, and
-- has no position.
-- Locks: none.
-- Index: outbox_eventposition.seq (the anti-join reads both tables whole).
-- Parameters: none.
SELECT event.seq, event.event_id, event.kind, event.subject
FROM outbox_event AS event
CROSS JOIN (
    SELECT tick.seq_floor, tick.snapshot_xmax, tick.snapshot_xip
    FROM outbox_tick AS tick ORDER BY tick.tick_id DESC LIMIT 1
) AS head
WHERE (event.seq <= head.seq_floor
       OR (event.xid < head.snapshot_xmax AND event.xid <> ALL (head.snapshot_xip)))
  AND NOT EXISTS (SELECT FROM outbox_eventposition AS position WHERE position.seq = event.seq)
ORDER BY event.seq
LIMIT 1
