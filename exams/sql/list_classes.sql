-- The classes that an attempt counts for: those the exam is given to and the student was in, by the school's calendar, when it was
-- started. The same rule as where it is graded and posted. As JSON, an array of objects with id and name.
-- Locks: none. Index: exams_attempt_pkey, exams_exam_pkey, gradebook_school_pkey, a_class_is_targeted_once, gradebook_enrolment by
--   student, gradebook_schoolclass_pkey.
-- Parameters: attempts uuid[].
SELECT attempt.id, json_agg(json_build_object('id', class.id, 'name', class.name) ORDER BY class.name, class.id)::text
FROM exams_attempt AS attempt
JOIN exams_exam AS exam ON exam.id = attempt.exam_id
JOIN gradebook_school AS school ON school.id = exam.school_id
JOIN exams_examtarget AS target ON target.exam_id = attempt.exam_id
JOIN gradebook_schoolclass AS class ON class.id = target.school_class_id
WHERE attempt.id = ANY (%(attempts)s::uuid[])
  AND EXISTS (
    SELECT 1
    FROM gradebook_enrolment AS enrolment
    WHERE enrolment.student_id = attempt.student_id
      AND enrolment.school_class_id = target.school_class_id
      AND (attempt.started_at AT TIME ZONE school.time_zone)::date
          BETWEEN enrolment.starts_on AND coalesce(enrolment.ends_on, 'infinity'))
GROUP BY attempt.id
