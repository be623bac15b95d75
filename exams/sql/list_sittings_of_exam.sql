-- List the students who have a result of an exam, each with the newest event that told of one: it would have posted the mark, had there been
-- a column.
-- Locks: none. Index: results_exam_idx; exams_attempt_pkey; one_event_per_subject_version, the end of an attempt's events.
-- Parameters: exam uuid.
SELECT DISTINCT ON (attempt.student_id) attempt.student_id, told.event_id
FROM exams_result AS result
JOIN exams_attempt AS attempt ON attempt.id = result.attempt_id
LEFT JOIN LATERAL (
    SELECT event.event_id, event.seq
    FROM outbox_event AS event
    WHERE event.subject = 'attempt:' || attempt.id AND event.kind = 'SubmissionGraded'
    ORDER BY event.subject_version DESC
    LIMIT 1) AS told ON true
WHERE result.exam_id = %(exam)s
ORDER BY attempt.student_id, told.seq DESC NULLS LAST;
