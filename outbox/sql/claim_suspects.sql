-- Claim a few jobs whose holders vanished before, apart from all others: those that lost one lease, or (losses 2) two and more.
-- The claim is not flushed by itself, for the reason given in claim_jobs.sql.
-- Locks: the row it claims; rows that others hold are passed over. To be committed at once.
-- Index: jobs_suspect_idx.
-- Parameters: kind text, losses integer (1 or 2), at_most integer, lease_id uuid, lease interval, leased_by uuid or null.
WITH unflushed AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), picked AS MATERIALIZED (
    SELECT job.group_id, job.subject_id, job.kind
    FROM outbox_job AS job
    WHERE job.state = 0 AND job.lost_leases > 0
      AND job.lost_leases BETWEEN %(losses)s AND CASE WHEN %(losses)s = 1 THEN 1 ELSE 32767 END
      AND job.kind = %(kind)s AND job.run_at <= statement_timestamp()
    ORDER BY job.lost_leases, job.run_at, job.job_id
    LIMIT %(at_most)s
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE outbox_job AS job
    SET state = 1,
        tries = job.tries + 1,
        lease_id = %(lease_id)s,
        leased_until = clock_timestamp() + %(lease)s,
        leased_by = %(leased_by)s
    FROM picked CROSS JOIN unflushed
    WHERE job.group_id = picked.group_id AND job.subject_id = picked.subject_id AND job.kind = picked.kind
    RETURNING job.tenant_id, job.group_id, job.job_id, job.kind, job.subject_id, job.lane, job.tries, job.snoozes,
              job.lost_leases, job.lease_id, job.created_at, job.run_at
)
SELECT tenant_id, group_id, job_id, kind, subject_id, lane, tries, snoozes, lost_leases, lease_id, created_at, run_at
FROM claimed
ORDER BY run_at, job_id;
