-- The fence: lock those of these receipts that are still held under this lease; only they may be written.
-- Locks: the receipts, in order of their ids.
-- Index: outbox_effectreceipt_pkey.
-- Parameters: ids bigint[], lease_id uuid.
SELECT receipt.id
FROM outbox_effectreceipt AS receipt
WHERE receipt.id = ANY (%(ids)s::bigint[]) AND receipt.state = 'trying' AND receipt.lease_id = %(lease_id)s
ORDER BY receipt.id
FOR UPDATE
