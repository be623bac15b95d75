-- Give back held jobs that were not begun, as if they had not been claimed: same place in their stream, no try counted.
-- Locks: the rows it gives back.
-- Index: primary key (group_id, subject_id, kind).
-- Held is who knows the lease; no state is named, for the reason given in lock_held_jobs.sql.
-- Parameters: kind text, lease_id uuid, and arrays of one length: group_ids uuid[], subject_ids uuid[].
UPDATE outbox_job AS job
SET state = 0,
    lease_id = NULL, leased_until = NULL, leased_by = NULL,
    tries = job.tries - 1
FROM unnest(%(group_ids)s::uuid[], %(subject_ids)s::uuid[]) AS mine (group_id, subject_id)
WHERE job.group_id = mine.group_id AND job.subject_id = mine.subject_id AND job.kind = %(kind)s
  AND job.lease_id = %(lease_id)s
RETURNING job.job_id;
