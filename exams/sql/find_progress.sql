-- Say how far the grading of one submission is: its job waits, runs, or was given up. How many stand before it is counted
-- within its own exam's line: exams take turns, so the line of another is no measure of anything.
-- The order is there for the planner: without it the few in front of the first one may be looked for in the whole table.
-- Locks: none. Index: one_job_per_subject_and_kind, jobs_ready_idx (at most `most` entries are counted),
--   dead_letters_subject_idx or dead_letters_open_idx.
-- Parameters: group_id, subject_id uuid; kind text; most integer.
SELECT
    job.state,
    CASE WHEN job.state = 0 THEN (
        SELECT count(*)
        FROM (
            SELECT 1
            FROM outbox_job AS ahead
            WHERE ahead.state = 0 AND ahead.lost_leases = 0
              AND (ahead.kind, ahead.lane, ahead.group_id, ahead.priority)
                  = (job.kind, job.lane, job.group_id, job.priority)
              AND (ahead.run_at, ahead.job_id) < (job.run_at, job.job_id)
            ORDER BY ahead.run_at, ahead.job_id
            LIMIT %(most)s
        ) AS counted
    ) END AS ahead,
    EXISTS (
        SELECT 1
        FROM outbox_deadletter AS given_up
        WHERE given_up.subject_id = %(subject_id)s AND given_up.kind = %(kind)s AND given_up.replayed_at IS NULL
    ) AS is_given_up
FROM (VALUES (1)) AS one
LEFT JOIN outbox_job AS job
    ON job.group_id = %(group_id)s AND job.subject_id = %(subject_id)s AND job.kind = %(kind)s;
