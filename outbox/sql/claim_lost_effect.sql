-- Take one effect whose try was lost with its process: alone, because it may be what the process died of.
-- Locks: the receipt. To be committed at once.
-- Index: effects_trying_idx.
-- Parameters: effects text[], lease_id uuid, lease double precision (seconds).
WITH lost AS MATERIALIZED (
    SELECT receipt.id
    FROM outbox_effectreceipt AS receipt
    WHERE receipt.state = 'trying' AND receipt.effect = ANY (%(effects)s::text[])
      AND receipt.due_at <= statement_timestamp()
    ORDER BY receipt.due_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE outbox_effectreceipt AS receipt
SET tries = receipt.tries + 1, lease_id = %(lease_id)s,
    due_at = clock_timestamp() + make_interval(secs => %(lease)s),
    resend_at = clock_timestamp() + make_interval(secs => %(lease)s)
FROM lost
WHERE receipt.id = lost.id
RETURNING receipt.id, receipt.event_id, receipt.effect, receipt.target, receipt.pos, receipt.tries, receipt.lease_id
