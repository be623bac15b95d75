-- Claim one job whose holder vanished before: alone, so that it can take no neighbour with it. The least suspect first.
-- Locks: the row it claims; rows that others hold are passed over. To be committed at once.
-- Index: jobs_suspect_idx.
-- Parameters: kind text, lease_id uuid, lease interval, leased_by uuid or null.
WITH picked AS MATERIALIZED (
    SELECT job.group_id, job.subject_id, job.kind
    FROM outbox_job AS job
    WHERE job.state = 0 AND job.lost_leases > 0
      AND job.kind = %(kind)s AND job.run_at <= statement_timestamp()
    ORDER BY job.lost_leases, job.run_at, job.job_id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE outbox_job AS job
SET state = 1,
    tries = job.tries + 1,
    lease_id = %(lease_id)s,
    leased_until = clock_timestamp() + %(lease)s,
    leased_by = %(leased_by)s
FROM picked
WHERE job.group_id = picked.group_id AND job.subject_id = picked.subject_id AND job.kind = picked.kind
RETURNING job.tenant_id, job.group_id, job.job_id, job.kind, job.subject_id, job.lane, job.tries, job.snoozes,
          job.lost_leases, job.lease_id, job.created_at, job.run_at;
