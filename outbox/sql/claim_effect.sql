-- Take one effect to try it, because a message says so. No row: it is done, or somebody is at it, or its next try is not due yet.
-- The try is counted here, so that one which kills its process is counted too.
-- Locks: the receipt, after whoever has it now and not past them: a message can be here before the sweeper that sent it has committed,
--   and would be spent for nothing. To be committed at once.
-- Index: one_receipt_per_effect.
-- Parameters: event_id uuid, effect text, target text, lease_id uuid, lease double precision (seconds).
WITH free AS (
    SELECT receipt.id
    FROM outbox_effectreceipt AS receipt
    WHERE receipt.event_id = %(event_id)s AND receipt.effect = %(effect)s AND receipt.target = %(target)s
      AND receipt.state IN ('pending', 'trying') AND receipt.due_at <= clock_timestamp()
    FOR UPDATE
)
UPDATE outbox_effectreceipt AS receipt
SET state = 'trying', tries = receipt.tries + 1, lease_id = %(lease_id)s,
    due_at = clock_timestamp() + make_interval(secs => %(lease)s),
    resend_at = clock_timestamp() + make_interval(secs => %(lease)s)
FROM free
WHERE receipt.id = free.id
RETURNING receipt.id, receipt.event_id, receipt.effect, receipt.target, receipt.pos, receipt.tries, receipt.lease_id
