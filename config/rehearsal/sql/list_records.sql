-- For the reconciliation: all that the tables hold of each attempt at an exam, as counts and as what a receipt names.
-- Locks: none. Index: attempt_numbers_unique_per_student, one_submission_per_attempt, results_attempt_idx,
--   one_event_per_subject_version, outbox_eventposition by seq, gradebook_mark by column.
-- Parameters: exam uuid.
WITH sitting AS (
    SELECT attempt.id, attempt.student_id FROM exams_attempt AS attempt WHERE attempt.exam_id = %(exam)s
), submission AS (
    SELECT handed_in.attempt_id, count(*) AS submissions, min(handed_in.id::text) AS id, min(handed_in.payload_sha256) AS sha256
    FROM sitting
    JOIN exams_submission AS handed_in ON handed_in.attempt_id = sitting.id AND handed_in.withdrawn_at IS NULL
    GROUP BY handed_in.attempt_id
), result AS (
    SELECT found.attempt_id, count(*) AS results FROM exams_result AS found WHERE found.exam_id = %(exam)s GROUP BY found.attempt_id
), event AS (
    SELECT
        sitting.id AS attempt_id,
        count(*) FILTER (WHERE logged.kind = 'SubmissionAccepted') AS accepted,
        count(*) FILTER (WHERE logged.kind = 'SubmissionGraded') AS graded,
        count(*) FILTER (WHERE place.pos IS NULL) AS unnumbered
    FROM sitting
    JOIN outbox_event AS logged ON logged.subject = 'attempt:' || sitting.id
    LEFT JOIN outbox_eventposition AS place ON place.seq = logged.seq
    GROUP BY sitting.id
), mark AS (
    SELECT entered.student_id, count(*) AS marks
    FROM exams_examtarget AS target
    JOIN gradebook_mark AS entered ON entered.column_id = target.column_id AND entered.value IS NOT NULL
    WHERE target.exam_id = %(exam)s
    GROUP BY entered.student_id
)
SELECT
    sitting.id::text,
    coalesce(submission.submissions, 0), coalesce(submission.id, ''), coalesce(submission.sha256, ''),
    coalesce(result.results, 0),
    coalesce(event.accepted, 0), coalesce(event.graded, 0), coalesce(event.unnumbered, 0),
    coalesce(mark.marks, 0)
FROM sitting
LEFT JOIN submission ON submission.attempt_id = sitting.id
LEFT JOIN result ON result.attempt_id = sitting.id
LEFT JOIN event ON event.attempt_id = sitting.id
LEFT JOIN mark ON mark.student_id = sitting.student_id
ORDER BY sitting.id;
