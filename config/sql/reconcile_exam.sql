-- Count an exam along the whole path, each stage by its own table, so that what is missing somewhere shows.
-- An index probe or two per attempt: for a person who asks about one exam, not for a page that refreshes.
-- `posts` are the cells that results should have reached: of each student with a result that makes a mark, in the column of a class
-- they were in when they began. A result that waits for a person makes none (`exams.counting`).
-- Locks: none. Index: attempt_numbers_unique_per_student by exam, one_submission_per_attempt, exams_result_pkey,
--   outbox_event_event_id_key, one_event_per_subject_version, outbox_job_pkey and one_open_dead_letter_per_job by group, one_mark_per_cell.
-- Parameters: exam uuid.
WITH sat AS MATERIALIZED (
    SELECT attempt.id, attempt.student_id, attempt.number, attempt.state, attempt.started_at, attempt.school_id,
           submission.id AS submission_id, submission.event_id, result.state AS result_state
    FROM exams_attempt AS attempt
    LEFT JOIN exams_submission AS submission ON submission.attempt_id = attempt.id AND submission.withdrawn_at IS NULL
    LEFT JOIN exams_result AS result ON result.submission_id = submission.id
    WHERE attempt.exam_id = %(exam)s
), making AS (
    SELECT sat.student_id,
           CASE WHEN exam.counting_attempt = 'last'
                THEN (array_agg(sat.result_state ORDER BY sat.number DESC))[1] = 'graded'
                ELSE bool_or(sat.result_state = 'graded')
           END AS makes_a_mark
    FROM sat
    JOIN exams_exam AS exam ON exam.id = %(exam)s
    WHERE sat.result_state IS NOT NULL
    GROUP BY sat.student_id, exam.counting_attempt
), posts AS (
    SELECT DISTINCT target.column_id, sat.student_id
    FROM sat
    JOIN making ON making.student_id = sat.student_id AND making.makes_a_mark
    JOIN gradebook_school AS school ON school.id = sat.school_id
    JOIN exams_examtarget AS target ON target.exam_id = %(exam)s AND target.column_id IS NOT NULL
    JOIN gradebook_enrolment AS enrolment
      ON enrolment.student_id = sat.student_id AND enrolment.school_class_id = target.school_class_id
     AND (sat.started_at AT TIME ZONE school.time_zone)::date
         BETWEEN enrolment.starts_on AND COALESCE(enrolment.ends_on, 'infinity')
    WHERE sat.result_state IS NOT NULL
)
SELECT count(*) AS attempts,
       count(*) FILTER (WHERE sat.state = 'open') AS open,
       count(*) FILTER (WHERE sat.state = 'not_taken') AS not_taken,
       count(*) FILTER (WHERE sat.state NOT IN ('open', 'not_taken')) AS handed_in,
       count(sat.submission_id) AS submissions,
       count(*) FILTER (WHERE sat.submission_id IS NOT NULL AND EXISTS (
           SELECT FROM outbox_event AS event WHERE event.event_id = sat.event_id)) AS accepted_events,
       (SELECT count(*) FROM outbox_job AS job WHERE job.group_id = %(exam)s AND job.kind = 'grade') AS jobs,
       (SELECT count(*) FROM outbox_deadletter AS letter
        WHERE letter.group_id = %(exam)s AND letter.kind = 'grade' AND letter.replayed_at IS NULL) AS dead_letters,
       count(sat.result_state) AS results,
       count(*) FILTER (WHERE sat.result_state IS NOT NULL AND EXISTS (
           SELECT FROM outbox_event AS event
           WHERE event.subject = 'attempt:' || sat.id AND event.kind IN ('SubmissionGraded', 'GradingFailed'))) AS graded_events,
       (SELECT count(*) FROM posts) AS posts,
       (SELECT count(*) FROM posts JOIN gradebook_mark AS mark
          ON mark.column_id = posts.column_id AND mark.student_id = posts.student_id
         AND mark.automatic_value IS NOT NULL) AS marks
FROM sat;
