-- Give attempts the state that grading ended in, and the version of the event that says so.
-- Locks: the attempts; the caller holds them already. Index: exams_attempt_pkey.
-- Parameters: rows json, an array of objects with the column names below.
UPDATE exams_attempt AS attempt
SET state = settled.state,
    failure_reason = settled.failure_reason,
    version = attempt.version + 1
FROM json_to_recordset(%(rows)s::json) AS settled (id uuid, state text, failure_reason text)
WHERE attempt.id = settled.id;
