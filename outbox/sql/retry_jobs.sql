-- Give held jobs back to be tried again later, each with the error of this try added to its history.
-- Locks: the rows it gives back.
-- Index: primary key (group_id, subject_id, kind).
-- Held is who knows the lease; no state is named, for the reason given in lock_held_jobs.sql.
-- Parameters: failures json, an array of {group_id, subject_id, kind, lease_id, delay in seconds, error_class, error_detail}.
UPDATE outbox_job AS job
SET state = 0,
    lease_id = NULL, leased_until = NULL, leased_by = NULL,
    run_at = clock_timestamp() + make_interval(secs => failure.delay),
    history = job.history || jsonb_build_object(
        'at', clock_timestamp(), 'cause', 'failed', 'try', job.tries, 'worker', job.leased_by,
        'error_class', failure.error_class, 'error_detail', failure.error_detail)
FROM json_to_recordset(%(failures)s::json) AS failure
    (group_id uuid, subject_id uuid, kind text, lease_id uuid, delay float8, error_class text, error_detail text)
WHERE job.group_id = failure.group_id AND job.subject_id = failure.subject_id AND job.kind = failure.kind
  AND job.lease_id = failure.lease_id
RETURNING job.job_id;
