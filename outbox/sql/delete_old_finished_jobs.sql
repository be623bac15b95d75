-- Forget jobs that were finished long ago, some at a time. What they did stays; a job done again has a young row.
-- Locks: the rows it deletes; rows that somebody is just replacing are passed over.
-- Index: finished_jobs_age_idx; then the rows themselves.
-- Parameters: days double precision, at_most integer.
DELETE FROM outbox_finishedjob AS finished
WHERE finished.ctid = ANY (ARRAY(
    SELECT old.ctid
    FROM outbox_finishedjob AS old
    WHERE old.finished_at < statement_timestamp() - %(days)s * interval '1 day'
    ORDER BY old.finished_at
    LIMIT %(at_most)s
    FOR UPDATE SKIP LOCKED
));
