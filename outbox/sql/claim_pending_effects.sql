-- Take some pending effects that are due, the longest due first. A target that is being served now is not served a second time
-- meanwhile, so that a slow one keeps one of us busy and not all.
-- Locks: the receipts; those that somebody else has locked are passed over. To be committed at once.
-- Index: effects_pending_idx in order, effects_trying_idx.
-- Parameters: effects text[], lease_id uuid, lease double precision (seconds), at_most integer.
WITH due AS MATERIALIZED (
    SELECT receipt.id
    FROM outbox_effectreceipt AS receipt
    WHERE receipt.state = 'pending' AND receipt.due_at <= statement_timestamp()
      AND receipt.effect = ANY (%(effects)s::text[])
      AND (receipt.target = '' OR NOT EXISTS (
          SELECT FROM outbox_effectreceipt AS other
          WHERE other.state = 'trying' AND other.effect = receipt.effect AND other.target = receipt.target
            AND other.due_at > statement_timestamp()))
    ORDER BY receipt.due_at
    LIMIT %(at_most)s
    FOR UPDATE SKIP LOCKED
)
UPDATE outbox_effectreceipt AS receipt
SET state = 'trying', tries = receipt.tries + 1, lease_id = %(lease_id)s,
    due_at = clock_timestamp() + make_interval(secs => %(lease)s),
    resend_at = clock_timestamp() + make_interval(secs => %(lease)s)
FROM due
WHERE receipt.id = due.id
RETURNING receipt.id, receipt.event_id, receipt.effect, receipt.target, receipt.pos, receipt.tries, receipt.lease_id
