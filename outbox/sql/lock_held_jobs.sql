-- Lock those of these jobs that are still held under this lease: the fence. A row that is not returned belongs to somebody else.
-- Locks: the rows returned, in key order.
-- Index: primary key (group_id, subject_id, kind).
-- Parameters: kind text, lease_id uuid, and arrays of one length: group_ids uuid[], subject_ids uuid[].
-- A job with a lease is running (a_running_job_has_a_lease). Saying so here would invite the planner to read the whole running
-- index, which under a long-open snapshot holds an entry for every job that was ever claimed since.
SELECT job.job_id
FROM unnest(%(group_ids)s::uuid[], %(subject_ids)s::uuid[]) AS mine (group_id, subject_id)
JOIN outbox_job AS job ON job.group_id = mine.group_id AND job.subject_id = mine.subject_id AND job.kind = %(kind)s
WHERE job.lease_id = %(lease_id)s
ORDER BY job.group_id, job.subject_id, job.kind
FOR UPDATE OF job;
