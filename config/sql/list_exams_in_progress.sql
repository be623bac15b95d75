-- The exams that are being sat or ended within the last hour, the next to end first, with how far their attempts are. A rehearsal is there
-- until its end only.
-- Locks: none. Index: attempt_numbers_unique_per_student by exam, outbox_job_pkey by group; the exams are read whole.
-- Parameters: at_most int.
SELECT exam.id, exam.title, school.name AS school, exam.closes_at, attempts.open, attempts.handed_in, attempts.graded,
       attempts.to_mark, attempts.failed, jobs.waiting, school.is_rehearsal
FROM exams_exam AS exam
JOIN gradebook_school AS school ON school.id = exam.school_id
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE attempt.state = 'open') AS open,
           count(*) FILTER (WHERE attempt.state IN ('submitted', 'graded', 'needs_marking', 'failed')) AS handed_in,
           count(*) FILTER (WHERE attempt.state = 'graded') AS graded,
           count(*) FILTER (WHERE attempt.state = 'needs_marking') AS to_mark,
           count(*) FILTER (WHERE attempt.state = 'failed') AS failed
    FROM exams_attempt AS attempt
    WHERE attempt.exam_id = exam.id
) AS attempts
CROSS JOIN LATERAL (SELECT count(*) AS waiting FROM outbox_job AS job WHERE job.group_id = exam.id) AS jobs
WHERE exam.opens_at <= statement_timestamp()
  AND exam.closes_at + make_interval(secs => exam.grace_seconds + exam.late_seconds) >= statement_timestamp() - interval '1 hour'
  AND (NOT school.is_rehearsal OR exam.closes_at >= statement_timestamp())
ORDER BY exam.closes_at, exam.id
LIMIT %(at_most)s;
