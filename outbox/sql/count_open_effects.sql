-- How many effects wait for a try, are being tried, failed, and were refused, by name, with the age of the oldest that waits.
-- Locks: none.
-- Index: effects_resend_idx, effects_failed_idx and effects_refused_idx, whose conditions these are: the cost follows what is open,
--   failed or refused, not what is done.
-- Parameters: none.
SELECT receipt.effect,
       count(*) FILTER (WHERE receipt.state = 'pending'),
       count(*) FILTER (WHERE receipt.state = 'trying'),
       count(*) FILTER (WHERE receipt.state = 'failed'),
       count(*) FILTER (WHERE receipt.state = 'refused'),
       COALESCE(extract(epoch FROM clock_timestamp()
           - min(receipt.created_at) FILTER (WHERE receipt.state IN ('pending', 'trying'))), 0)::double precision
FROM (
    SELECT pending.effect, pending.state, pending.created_at
    FROM outbox_effectreceipt AS pending WHERE pending.state IN ('pending', 'trying')
    UNION ALL
    SELECT failed.effect, failed.state, failed.created_at
    FROM outbox_effectreceipt AS failed WHERE failed.state = 'failed'
    UNION ALL
    SELECT refused.effect, refused.state, refused.created_at
    FROM outbox_effectreceipt AS refused WHERE refused.state = 'refused'
) AS receipt
GROUP BY receipt.effect
ORDER BY receipt.effect
