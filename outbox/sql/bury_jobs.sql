-- Give held jobs up: move them to the dead letters, with the cause and every failed try.
-- Locks: the rows it moves; a dead letter of the same job that is still open.
-- Index: primary key (group_id, subject_id, kind); one_open_dead_letter_per_job.
-- Held is who knows the lease; no state is named, for the reason given in lock_held_jobs.sql.
-- Parameters: failures json, an array of {group_id, subject_id, kind, lease_id, cause, error_class, error_detail}.
WITH dead AS (
    DELETE FROM outbox_job AS job
    USING json_to_recordset(%(failures)s::json) AS failure
        (group_id uuid, subject_id uuid, kind text, lease_id uuid, cause text, error_class text, error_detail text)
    WHERE job.group_id = failure.group_id AND job.subject_id = failure.subject_id AND job.kind = failure.kind
      AND job.lease_id = failure.lease_id
    RETURNING job.*, failure.cause, failure.error_class, failure.error_detail
)
INSERT INTO outbox_deadletter AS letter
    (tenant_id, group_id, job_id, kind, subject_id, lane, priority, created_at,
     cause, error_class, error_detail, tries, lost_leases, history)
SELECT dead.tenant_id, dead.group_id, dead.job_id, dead.kind, dead.subject_id, dead.lane, dead.priority, dead.created_at,
       dead.cause, dead.error_class, dead.error_detail, dead.tries, dead.lost_leases,
       dead.history || jsonb_build_object(
           'at', clock_timestamp(), 'cause', 'failed', 'try', dead.tries, 'worker', dead.leased_by,
           'error_class', dead.error_class, 'error_detail', dead.error_detail)
FROM dead
ON CONFLICT (group_id, subject_id, kind) WHERE replayed_at IS NULL DO UPDATE
SET cause = excluded.cause, error_class = excluded.error_class, error_detail = excluded.error_detail,
    tries = excluded.tries, lost_leases = excluded.lost_leases, history = excluded.history, died_at = excluded.died_at
RETURNING letter.job_id;
