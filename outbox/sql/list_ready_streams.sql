-- List where ready work waits: each stream (kind, lane, group, priority) that has a job due, with its oldest job.
-- Fresh work that has been due for too long counts as backlog (`served_in`), and what came after it in the same stream as fresh
-- still: such a stream is listed twice, once from its oldest job and once from the first that is young enough.
-- A loose scan: one index probe a stream, however many jobs wait in it. This is the full scan that backs the forward hint.
-- Locks: none.
-- Index: jobs_ready_idx, equality or row comparison on its leading columns.
-- Parameters: fresh_for interval. (state 0 = ready; jobs that have lost a lease are claimed apart, see claim_suspects.sql;
--     lane 0 = fresh, 1 = backlog.)
WITH RECURSIVE front AS (
    (SELECT job.kind, job.lane, job.group_id, job.priority, job.run_at
     FROM outbox_job AS job
     WHERE job.state = 0 AND job.lost_leases = 0
     ORDER BY job.kind, job.lane, job.group_id, job.priority, job.run_at
     LIMIT 1)
    UNION ALL
    SELECT following.kind, following.lane, following.group_id, following.priority, following.run_at
    FROM front
    CROSS JOIN LATERAL (
        SELECT job.kind, job.lane, job.group_id, job.priority, job.run_at
        FROM outbox_job AS job
        WHERE job.state = 0 AND job.lost_leases = 0
          AND (job.kind, job.lane, job.group_id, job.priority)
            > (front.kind, front.lane, front.group_id, front.priority)
        ORDER BY job.kind, job.lane, job.group_id, job.priority, job.run_at
        LIMIT 1
    ) AS following
), ready AS (
    SELECT front.*,
           CASE WHEN front.run_at < statement_timestamp() - %(fresh_for)s::interval THEN 1 ELSE front.lane END AS served_in
    FROM front
    WHERE front.run_at <= statement_timestamp()
    UNION ALL
    SELECT front.kind, front.lane, front.group_id, front.priority, young.run_at, front.lane
    FROM front
    CROSS JOIN LATERAL (
        SELECT job.run_at
        FROM outbox_job AS job
        WHERE job.state = 0 AND job.lost_leases = 0
          AND job.kind = front.kind AND job.lane = front.lane
          AND job.group_id = front.group_id AND job.priority = front.priority
          AND job.run_at >= statement_timestamp() - %(fresh_for)s::interval AND job.run_at <= statement_timestamp()
        ORDER BY job.run_at
        LIMIT 1
    ) AS young
    WHERE front.lane = 0 AND front.run_at < statement_timestamp() - %(fresh_for)s::interval
)
SELECT ready.kind, ready.served_in, ready.lane, ready.group_id, ready.priority, ready.run_at,
       extract(epoch FROM statement_timestamp() - ready.run_at)::float8 AS age
FROM ready
ORDER BY ready.kind, ready.served_in, ready.group_id, ready.priority, ready.lane;
