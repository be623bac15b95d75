-- Add up what all processes counted in this minute and the one before it, and say how many seconds that is.
-- Locks: none.
-- Index: outbox_queuetally_pkey, from a minute on.
-- Parameters: places integer, the length of the claims arrays.
WITH recent AS (
    SELECT tally.*
    FROM outbox_queuetally AS tally
    WHERE tally.minute >= date_trunc('minute', statement_timestamp()) - interval '1 minute'
)
SELECT 60 + extract(second FROM statement_timestamp())::float8 AS seconds,
       COALESCE(sum(recent.first_tries), 0)::bigint AS first_tries,
       COALESCE(sum(recent.retries), 0)::bigint AS retries,
       COALESCE(sum(recent.finished), 0)::bigint AS finished,
       COALESCE(sum(recent.retried), 0)::bigint AS retried,
       COALESCE(sum(recent.snoozed), 0)::bigint AS snoozed,
       COALESCE(sum(recent.released), 0)::bigint AS released,
       COALESCE(sum(recent.buried), 0)::bigint AS buried,
       COALESCE(sum(recent.lost), 0)::bigint AS lost,
       COALESCE(sum(recent.lost_leases), 0)::bigint AS lost_leases,
       ARRAY(
           SELECT COALESCE(sum(each.claims[place]), 0)::bigint
           FROM generate_series(1, %(places)s) AS place
           LEFT JOIN recent AS each ON true
           GROUP BY place
           ORDER BY place
       ) AS claims
FROM recent;
