-- Make the leases of jobs in hand last longer. No row: all of them are lost, or being settled right now.
-- Locks: the rows it renews; rows that are being settled or taken back are passed over, so it never waits or deadlocks.
-- Index: primary key (group_id, subject_id, kind).
-- Held is who knows the lease; no state is named, for the reason given in lock_held_jobs.sql.
-- Parameters: kind text, lease_id uuid, lease interval, and arrays of one length: group_ids uuid[], subject_ids uuid[].
WITH held AS MATERIALIZED (
    SELECT job.group_id, job.subject_id, job.kind
    FROM unnest(%(group_ids)s::uuid[], %(subject_ids)s::uuid[]) AS mine (group_id, subject_id)
    JOIN outbox_job AS job ON job.group_id = mine.group_id AND job.subject_id = mine.subject_id AND job.kind = %(kind)s
    WHERE job.lease_id = %(lease_id)s
    FOR UPDATE OF job SKIP LOCKED
)
UPDATE outbox_job AS job
SET leased_until = clock_timestamp() + %(lease)s
FROM held
WHERE job.group_id = held.group_id AND job.subject_id = held.subject_id AND job.kind = held.kind;
