-- Write how tries ended: done, failed for good, refused, or pending again.
-- Locks: the receipts, held already by lock_held_effects.
-- Index: outbox_effectreceipt_pkey.
-- Parameters: ids bigint[], states text[], errors text[], waits double precision[] (seconds), tries integer[] (made so far),
--   of one length.
UPDATE outbox_effectreceipt AS receipt
SET state = ended.state, error = ended.error, lease_id = NULL, tries = ended.tries,
    due_at = clock_timestamp() + make_interval(secs => ended.wait),
    resend_at = clock_timestamp() + make_interval(secs => ended.wait),
    ended_at = CASE WHEN ended.state = 'pending' THEN NULL ELSE clock_timestamp() END
FROM unnest(%(ids)s::bigint[], %(states)s::text[], %(errors)s::text[], %(waits)s::double precision[],
            %(tries)s::integer[]) AS ended (id, state, error, wait, tries)
WHERE receipt.id = ended.id
