-- Read what grading needs to know about a batch of submissions, and everything it verifies once more from the source.
-- The student must have been in a class the exam is given to on the day (by the school's calendar) the attempt was started.
-- Locks: none. Index: exams_submission_pkey, exams_attempt_pkey, exams_exam_pkey, gradebook_user_pkey, gradebook_school_pkey,
--   a_class_is_targeted_once, gradebook_enrolment by student.
-- Parameters: ids uuid[].
SELECT
    submission.id, submission.attempt_id, submission.revision_id, submission.answers, submission.payload_sha256,
    submission.withdrawn_at IS NOT NULL AS is_withdrawn,
    attempt.number, exam.attempts_allowed,
    student.is_active AS is_active_student,
    (attempt.exam_id, attempt.student_id, attempt.revision_id)
        = (submission.exam_id, submission.student_id, submission.revision_id) AS matches_attempt,
    EXISTS (
        SELECT 1
        FROM exams_examtarget AS target
        JOIN gradebook_enrolment AS enrolment ON enrolment.school_class_id = target.school_class_id
        WHERE target.exam_id = submission.exam_id
          AND enrolment.student_id = submission.student_id
          AND (attempt.started_at AT TIME ZONE school.time_zone)::date
              BETWEEN enrolment.starts_on AND coalesce(enrolment.ends_on, 'infinity')
    ) AS is_targeted
FROM exams_submission AS submission
JOIN exams_attempt AS attempt ON attempt.id = submission.attempt_id
JOIN exams_exam AS exam ON exam.id = submission.exam_id
JOIN gradebook_school AS school ON school.id = submission.school_id
JOIN gradebook_user AS student ON student.id = submission.student_id
WHERE submission.id = ANY(%(ids)s);
