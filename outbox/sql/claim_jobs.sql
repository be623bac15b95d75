-- Claim the next ready jobs of some streams of one kind, a share from each, starting behind the hint.
-- Locks: the rows it claims; rows that others hold are passed over. To be committed at once.
-- Index: jobs_ready_idx, a tight range a stream; then the primary key. Cost follows the shares, not what waits or has finished.
-- Parameters: kind text, share integer, lease_id uuid, lease interval, leased_by uuid or null, and arrays of one length:
--     lanes smallint[], group_ids uuid[], priorities smallint[], after_run_ats timestamptz[], after_job_ids uuid[].
-- The claim is not flushed by itself: if the server loses it in a crash, the job is ready again, its holder's lease is unknown, and the
-- fence keeps that one from writing. Nobody was told anything.
-- Two planner traps: statement_timestamp() and not clock_timestamp(), since only a stable function can bound an index scan; and
-- one share for all, since of a LIMIT that differs by row the planner expects a tenth of the table, and then reads all of it.
WITH unflushed AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), stream AS (
    SELECT *
    FROM unnest(
        %(lanes)s::smallint[], %(group_ids)s::uuid[], %(priorities)s::smallint[],
        %(after_run_ats)s::timestamptz[], %(after_job_ids)s::uuid[]
    ) AS stream (lane, group_id, priority, after_run_at, after_job_id)
), picked AS MATERIALIZED (
    SELECT ready.group_id, ready.subject_id, ready.kind
    FROM stream
    CROSS JOIN LATERAL (
        SELECT job.group_id, job.subject_id, job.kind
        FROM outbox_job AS job
        WHERE job.state = 0 AND job.lost_leases = 0
          AND job.kind = %(kind)s AND job.lane = stream.lane
          AND job.group_id = stream.group_id AND job.priority = stream.priority
          AND job.run_at <= statement_timestamp()
          AND (job.run_at, job.job_id) > (stream.after_run_at, stream.after_job_id)
        ORDER BY job.run_at, job.job_id
        LIMIT %(share)s
        FOR UPDATE SKIP LOCKED
    ) AS ready
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
