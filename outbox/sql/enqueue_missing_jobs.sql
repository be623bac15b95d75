-- Add the jobs that are nowhere: not waiting, not running, not finished, not among the open dead letters.
-- Locks: none of its own; waits for a transaction that is just adding or settling the same job, in key order.
-- Index: primary key (group_id, subject_id, kind) of both tables; one_open_dead_letter_per_job.
-- Parameters: jobs json, an array of objects with the column names below; run_at null means now.
INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id, lane, priority, run_at)
SELECT job.tenant_id, job.group_id, job.job_id, job.kind, job.subject_id, job.lane, job.priority,
       coalesce(job.run_at, clock_timestamp())
FROM json_to_recordset(%(jobs)s::json) AS job
    (tenant_id uuid, group_id uuid, job_id uuid, kind text, subject_id uuid, lane smallint, priority smallint,
     run_at timestamptz)
WHERE NOT EXISTS (
    SELECT FROM outbox_finishedjob AS finished
    WHERE finished.group_id = job.group_id AND finished.subject_id = job.subject_id AND finished.kind = job.kind
) AND NOT EXISTS (
    SELECT FROM outbox_deadletter AS letter
    WHERE letter.group_id = job.group_id AND letter.subject_id = job.subject_id AND letter.kind = job.kind
      AND letter.replayed_at IS NULL
)
ORDER BY job.group_id, job.subject_id, job.kind
ON CONFLICT DO NOTHING
RETURNING job_id;
