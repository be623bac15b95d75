-- Find submissions that nobody will ever grade: their attempt still says "submitted", but they have neither a job nor an
-- open dead letter. Only those accepted some time ago: in the transaction that accepts one, all of it commits together.
-- Locks: none. Index: attempts_submitted_idx, one_submission_per_attempt, outbox_job_pkey,
--   dead_letters_subject_idx.
-- Parameters: kind text; seconds float8; at_most integer.
SELECT submission.id
FROM exams_attempt AS attempt
JOIN exams_submission AS submission ON submission.attempt_id = attempt.id AND submission.withdrawn_at IS NULL
WHERE attempt.state = 'submitted'
  AND attempt.ended_at < statement_timestamp() - make_interval(secs => %(seconds)s)
  AND NOT EXISTS (
      SELECT 1
      FROM outbox_job AS job
      WHERE job.group_id = submission.exam_id AND job.subject_id = submission.id AND job.kind = %(kind)s
  )
  AND NOT EXISTS (
      SELECT 1
      FROM outbox_deadletter AS given_up
      WHERE given_up.subject_id = submission.id AND given_up.kind = %(kind)s AND given_up.replayed_at IS NULL
  )
ORDER BY attempt.ended_at
LIMIT %(at_most)s;
