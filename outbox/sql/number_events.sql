-- Give every event that is visible now, and was not at the last tick, its dense position; then write the next tick.
-- Run in REPEATABLE READ, so that the events chosen and the snapshot written down are one and the same. Writes nothing if
-- nothing is new. Why this is complete and exact: docs/adr/0001-event-order.md.
-- Locks: none but its own rows. A second pass from the same tick waits on the key of the first position, then fails on it.
-- Index: events_xid_idx, twice (its two conditions cannot both be true of one event).
-- Parameters: tick_id, epoch, shard, last_pos, seq_floor, digest of the last tick; xmax xid8 and xip xid8[] of its snapshot,
--   as parameters because a join with the tick's row made the planner guess badly.
WITH waiting AS (
    SELECT event.seq, outbox_event_digest(event) AS digest
    FROM outbox_event AS event
    WHERE event.xid >= %(xmax)s::xid8 AND event.seq > %(seq_floor)s
    UNION ALL
    SELECT event.seq, outbox_event_digest(event) AS digest
    FROM outbox_event AS event
    WHERE event.xid = ANY (%(xip)s::xid8[]) AND event.seq > %(seq_floor)s
), numbered AS (
    INSERT INTO outbox_eventposition (pos, seq, digest)
    SELECT %(last_pos)s + row_number() OVER (ORDER BY waiting.seq), waiting.seq, waiting.digest
    FROM waiting
    ORDER BY waiting.seq
    RETURNING pos, digest
)
INSERT INTO outbox_tick (tick_id, epoch, shard, first_pos, last_pos, seq_floor, snapshot_xmax, snapshot_xip, digest, at)
SELECT %(tick_id)s + 1, %(epoch)s, %(shard)s, %(last_pos)s + 1, max(numbered.pos), %(seq_floor)s,
       pg_snapshot_xmax(pg_current_snapshot()), ARRAY(SELECT pg_snapshot_xip(pg_current_snapshot())),
       sha256(%(digest)s::bytea || string_agg(numbered.digest, ''::bytea ORDER BY numbered.pos)),
       transaction_timestamp()
FROM numbered
HAVING count(*) > 0
RETURNING tick_id, first_pos, last_pos
