-- For students and the exams they have sat: every result that still counts, beside each column it is to be posted to.
-- The columns are those of the classes the exam is given to and the student was in (by the school's calendar) when the attempt
-- was started: the same rule as when it is graded.
-- Locks: none. Index: attempt_numbers_unique_per_student, one_submission_per_attempt, exams_result_pkey, a_class_is_targeted_once,
--   gradebook_enrolment by student, gradebook_column_pkey.
-- Parameters: exams, students uuid[], of equal length, no pair twice.
SELECT
    asked.exam_id, asked.student_id, col.id AS column_id, exam.counting_attempt, col.max_points AS column_points,
    attempt.number, result.state, result.score, result.max_points, result.graded_at
FROM unnest(%(exams)s::uuid[], %(students)s::uuid[]) AS asked (exam_id, student_id)
JOIN exams_exam AS exam ON exam.id = asked.exam_id
JOIN gradebook_school AS school ON school.id = exam.school_id
JOIN exams_attempt AS attempt ON attempt.exam_id = asked.exam_id AND attempt.student_id = asked.student_id
JOIN exams_submission AS submission ON submission.attempt_id = attempt.id AND submission.withdrawn_at IS NULL
JOIN exams_result AS result ON result.submission_id = submission.id
JOIN exams_examtarget AS target ON target.exam_id = exam.id
JOIN gradebook_column AS col ON col.id = target.column_id
WHERE EXISTS (
    SELECT 1
    FROM gradebook_enrolment AS enrolment
    WHERE enrolment.student_id = attempt.student_id
      AND enrolment.school_class_id = target.school_class_id
      AND (attempt.started_at AT TIME ZONE school.time_zone)::date
          BETWEEN enrolment.starts_on AND coalesce(enrolment.ends_on, 'infinity')
)
ORDER BY col.id, attempt.student_id, attempt.number;
