-- How many effects wait for a try, are being tried, and failed, by name, with the age of the oldest that waits.
-- Locks: none.
-- Index: effects_resend_idx and effects_failed_idx, whose conditions these are: the cost follows what is open, not what is done.
-- Parameters: none.
SELECT receipt.effect,
       count(*) FILTER (WHERE receipt.state = 'pending'),
       count(*) FILTER (WHERE receipt.state = 'trying'),
       count(*) FILTER (WHERE receipt.state = 'failed'),
       COALESCE(extract(epoch FROM clock_timestamp()
           - min(receipt.created_at) FILTER (WHERE receipt.state <> 'failed')), 0)::double precision
FROM (
    SELECT pending.effect, pending.state, pending.created_at
    FROM outbox_effectreceipt AS pending WHERE pending.state IN ('pending', 'trying')
    UNION ALL
    SELECT failed.effect, failed.state, failed.created_at
    FROM outbox_effectreceipt AS failed WHERE failed.state = 'failed'
) AS receipt
GROUP BY receipt.effect
ORDER BY receipt.effect
