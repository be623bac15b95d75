-- List workers that hold jobs under a running lease and show no sign of life: their connection is gone, so they are.
-- Locks: none (reading pg_locks holds the lock tables for an instant: about once a second, never in a hot path).
-- Index: jobs_running_idx; only leases that still run, so old dead rows in the index are not walked.
-- Parameters: namespace integer.
SELECT DISTINCT job.leased_by
FROM outbox_job AS job
WHERE job.state = 1 AND job.leased_until >= statement_timestamp() AND job.leased_by IS NOT NULL
  AND NOT EXISTS (
      SELECT FROM pg_locks AS held
      WHERE held.locktype = 'advisory' AND held.granted
        AND held.database = (SELECT here.oid FROM pg_database AS here WHERE here.datname = current_database())
        AND held.classid = %(namespace)s::oid
        AND held.objid::bigint = hashtext(job.leased_by::text)::bigint & 4294967295
  );
