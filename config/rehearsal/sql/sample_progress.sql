-- For the rehearsal's curves: how far an exam's attempts are on their way to marks, and how long the oldest job of it waits.
-- Locks: none. Index: attempt_numbers_unique_per_student, exams_result by exam, the key of outbox_job, gradebook_mark by column.
-- Parameters: exam uuid.
SELECT
    (SELECT count(*) FROM exams_attempt AS attempt WHERE attempt.exam_id = %(exam)s AND attempt.state <> 'open') AS handed_in,
    (SELECT count(*) FROM exams_result AS result WHERE result.exam_id = %(exam)s) AS results,
    (
        SELECT count(*)
        FROM exams_examtarget AS target
        JOIN gradebook_mark AS mark ON mark.column_id = target.column_id
        WHERE target.exam_id = %(exam)s
    ) AS marks,
    job.waiting,
    job.oldest
FROM (
    SELECT count(*) AS waiting,
        coalesce(extract(epoch FROM clock_timestamp() - min(waiting.created_at)), 0)::float8 AS oldest
    FROM outbox_job AS waiting
    WHERE waiting.group_id = %(exam)s
) AS job;
