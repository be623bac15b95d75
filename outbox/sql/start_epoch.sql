-- Begin a new epoch after a restore or a move to another cluster: number every event that has no position yet, whatever
-- transaction id it carries (those of another cluster mean nothing here), and write a tick of the new epoch.
-- Run in REPEATABLE READ, after LOCK TABLE outbox_event IN SHARE MODE: nobody is writing events meanwhile.
-- Locks: none but its own rows.
-- Index: outbox_eventposition_seq (the anti-join reads both tables whole).
-- Parameters: tick_id, epoch, shard, last_pos, digest of the last tick.
WITH waiting AS (
    SELECT event.seq, outbox_event_digest(event) AS digest
    FROM outbox_event AS event
    WHERE NOT EXISTS (SELECT FROM outbox_eventposition AS position WHERE position.seq = event.seq)
), numbered AS (
    INSERT INTO outbox_eventposition (pos, seq, digest)
    SELECT %(last_pos)s + row_number() OVER (ORDER BY waiting.seq), waiting.seq, waiting.digest
    FROM waiting
    ORDER BY waiting.seq
    RETURNING pos, digest
)
INSERT INTO outbox_tick (tick_id, epoch, shard, first_pos, last_pos, seq_floor, snapshot_xmax, snapshot_xip, digest, at)
SELECT %(tick_id)s + 1, %(epoch)s + 1, %(shard)s, %(last_pos)s + 1, COALESCE(max(numbered.pos), %(last_pos)s),
       COALESCE((SELECT max(event.seq) FROM outbox_event AS event), 0),
       pg_snapshot_xmax(pg_current_snapshot()), ARRAY(SELECT pg_snapshot_xip(pg_current_snapshot())),
       sha256(%(digest)s::bytea || COALESCE(string_agg(numbered.digest, ''::bytea ORDER BY numbered.pos), ''::bytea)),
       transaction_timestamp()
FROM numbered
RETURNING tick_id, first_pos, last_pos
