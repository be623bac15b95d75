-- Move held jobs out of the hot table, in the transaction that wrote their effects.
-- Locks: the rows it moves (locked before, by lock_held_jobs.sql).
-- Index: primary key (group_id, subject_id, kind), of both tables.
-- Held is who knows the lease; no state is named, for the reason given in lock_held_jobs.sql.
-- Parameters: kind text, lease_id uuid, and arrays of one length: group_ids uuid[], subject_ids uuid[].
WITH done AS (
    DELETE FROM outbox_job AS job
    USING unnest(%(group_ids)s::uuid[], %(subject_ids)s::uuid[]) AS mine (group_id, subject_id)
    WHERE job.group_id = mine.group_id AND job.subject_id = mine.subject_id AND job.kind = %(kind)s
      AND job.lease_id = %(lease_id)s
    RETURNING job.tenant_id, job.group_id, job.job_id, job.kind, job.subject_id, job.lane, job.priority,
              job.created_at, job.tries
)
INSERT INTO outbox_finishedjob AS finished
    (tenant_id, group_id, job_id, kind, subject_id, lane, priority, created_at, tries)
SELECT done.tenant_id, done.group_id, done.job_id, done.kind, done.subject_id, done.lane, done.priority,
       done.created_at, done.tries
FROM done
ON CONFLICT (group_id, subject_id, kind) DO UPDATE
SET lane = excluded.lane, priority = excluded.priority, created_at = excluded.created_at,
    tries = excluded.tries, finished_at = excluded.finished_at;
