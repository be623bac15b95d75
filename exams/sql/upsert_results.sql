-- Store what grading found, one result a submission; a changed one replaces the old and counts up its version.
-- Locks: the results; the caller holds the attempts' rows. Index: exams_result_pkey.
-- Parameters: rows json, an array of objects with the column names below.
INSERT INTO exams_result AS result
    (submission_id, school_id, exam_id, attempt_id, state, score, max_points, breakdown, reason, version, graded_at)
SELECT found.submission_id, found.school_id, found.exam_id, found.attempt_id, found.state, found.score, found.max_points,
       found.breakdown, found.reason, 1, statement_timestamp()
FROM json_to_recordset(%(rows)s::json) AS found
    (submission_id uuid, school_id uuid, exam_id uuid, attempt_id uuid, state text, score numeric, max_points numeric,
     breakdown jsonb, reason text)
ON CONFLICT (submission_id) DO UPDATE
    SET state = excluded.state,
        score = excluded.score,
        max_points = excluded.max_points,
        breakdown = excluded.breakdown,
        reason = excluded.reason,
        version = result.version + 1,
        graded_at = excluded.graded_at;
