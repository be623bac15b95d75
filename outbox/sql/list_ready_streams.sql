-- List where ready work waits: each stream (kind, lane, group, priority) that has a job due, with its oldest job.
-- A loose scan: one index probe a stream, however many jobs wait in it. This is the full scan that backs the forward hint.
-- Locks: none.
-- Index: jobs_ready_idx, equality or row comparison on its leading columns.
-- Parameters: none. (state 0 = ready; jobs that have lost a lease are claimed alone, see claim_suspect.sql.)
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
)
SELECT front.kind, front.lane, front.group_id, front.priority, front.run_at,
       extract(epoch FROM statement_timestamp() - front.run_at)::float8 AS age
FROM front
WHERE front.run_at <= statement_timestamp()
ORDER BY front.kind, front.lane, front.group_id, front.priority;
