-- Put held jobs off without counting a try: there was no budget to retry them.
-- Locks: the rows it puts off.
-- Index: primary key (group_id, subject_id, kind).
-- Held is who knows the lease; no state is named, for the reason given in lock_held_jobs.sql.
-- Parameters: jobs json, an array of {group_id, subject_id, kind, lease_id, delay in seconds}.
UPDATE outbox_job AS job
SET state = 0,
    lease_id = NULL, leased_until = NULL, leased_by = NULL,
    tries = job.tries - 1,
    snoozes = job.snoozes + 1,
    run_at = clock_timestamp() + make_interval(secs => snoozed.delay)
FROM json_to_recordset(%(jobs)s::json) AS snoozed (group_id uuid, subject_id uuid, kind text, lease_id uuid, delay float8)
WHERE job.group_id = snoozed.group_id AND job.subject_id = snoozed.subject_id AND job.kind = snoozed.kind
  AND job.lease_id = snoozed.lease_id
RETURNING job.job_id;
