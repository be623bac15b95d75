-- Take effects whose message has to be sent again: it was lost, or the next try is due, or the last try was lost with its process.
-- They are not taken again for a while.
-- Locks: the receipts; those that somebody else has locked are passed over. To be committed once the broker has confirmed.
-- Index: effects_resend_idx in order; the keys of positions and events.
-- Parameters: effects text[], seconds double precision until they may be taken again, at_most integer.
WITH overdue AS MATERIALIZED (
    SELECT receipt.id
    FROM outbox_effectreceipt AS receipt
    WHERE receipt.state IN ('pending', 'trying') AND receipt.resend_at <= statement_timestamp()
      AND receipt.effect = ANY (%(effects)s::text[])
    ORDER BY receipt.resend_at
    LIMIT %(at_most)s
    FOR UPDATE SKIP LOCKED
)
UPDATE outbox_effectreceipt AS receipt
SET resend_at = clock_timestamp() + make_interval(secs => %(seconds)s)
FROM overdue
WHERE receipt.id = overdue.id
RETURNING receipt.event_id, receipt.effect, receipt.target, receipt.pos, (
    SELECT event.correlation_id
    FROM outbox_eventposition AS position
    JOIN outbox_event AS event ON event.seq = position.seq
    WHERE position.pos = receipt.pos AND event.event_id = receipt.event_id
) AS correlation_id
