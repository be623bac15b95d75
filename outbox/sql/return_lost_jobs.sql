-- Take jobs back from holders that are gone: leases that ran out, and jobs of workers known to be dead. At the third loss
-- the job is given up instead.
-- Locks: the rows it takes back; rows that somebody is just settling are passed over.
-- Index: jobs_running_idx; primary key (group_id, subject_id, kind); one_open_dead_letter_per_job.
-- Parameters: dead_workers uuid[], losses_allowed integer, at_most integer.
WITH expired AS MATERIALIZED (
    SELECT job.group_id, job.subject_id, job.kind
    FROM outbox_job AS job
    WHERE job.state = 1 AND job.leased_until < statement_timestamp()
    ORDER BY job.leased_until
    LIMIT %(at_most)s
    FOR UPDATE SKIP LOCKED
), orphaned AS MATERIALIZED (
    SELECT job.group_id, job.subject_id, job.kind
    FROM outbox_job AS job
    WHERE job.state = 1 AND job.leased_until >= statement_timestamp()
      AND job.leased_by = ANY(%(dead_workers)s::uuid[])
    ORDER BY job.leased_until
    LIMIT %(at_most)s
    FOR UPDATE SKIP LOCKED
), lost AS (
    SELECT expired.group_id, expired.subject_id, expired.kind FROM expired
    UNION ALL
    SELECT orphaned.group_id, orphaned.subject_id, orphaned.kind FROM orphaned
), returned AS (
    UPDATE outbox_job AS job
    SET state = 0,
        lease_id = NULL, leased_until = NULL, leased_by = NULL,
        lost_leases = job.lost_leases + 1,
        history = job.history || jsonb_build_object(
            'at', clock_timestamp(), 'cause', 'lost_lease', 'try', job.tries, 'worker', job.leased_by)
    FROM lost
    WHERE job.group_id = lost.group_id AND job.subject_id = lost.subject_id AND job.kind = lost.kind
      AND job.lost_leases + 1 < %(losses_allowed)s
    RETURNING job.job_id
), dead AS (
    DELETE FROM outbox_job AS job
    USING lost
    WHERE job.group_id = lost.group_id AND job.subject_id = lost.subject_id AND job.kind = lost.kind
      AND job.lost_leases + 1 >= %(losses_allowed)s
    RETURNING job.*
), buried AS (
    INSERT INTO outbox_deadletter AS letter
        (tenant_id, group_id, job_id, kind, subject_id, lane, priority, created_at,
         cause, error_class, error_detail, tries, lost_leases, history)
    SELECT dead.tenant_id, dead.group_id, dead.job_id, dead.kind, dead.subject_id, dead.lane, dead.priority, dead.created_at,
           'lost_leases', '', 'Every worker that took this job died or froze while it held it.',
           dead.tries, dead.lost_leases + 1,
           dead.history || jsonb_build_object(
               'at', clock_timestamp(), 'cause', 'lost_lease', 'try', dead.tries, 'worker', dead.leased_by)
    FROM dead
    ON CONFLICT (group_id, subject_id, kind) WHERE replayed_at IS NULL DO UPDATE
    SET cause = excluded.cause, error_class = excluded.error_class, error_detail = excluded.error_detail,
        tries = excluded.tries, lost_leases = excluded.lost_leases, history = excluded.history,
        died_at = excluded.died_at
    RETURNING letter.job_id
)
SELECT (SELECT count(*) FROM returned) AS returned, (SELECT count(*) FROM buried) AS buried;
