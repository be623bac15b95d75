-- Keep the answers of an open attempt, if they continue what was kept last: one statement, so one round trip an autosave.
--
-- The attempt's row is locked first and read under the lock: whoever closes the attempt takes the same lock and then reads
-- the draft, so a draft that was acknowledged is in what the server hands in. Time is that of arrival at the database, so a
-- wait for the lock makes nobody late; after `grace_until` nothing is kept, for a late save must not replace a punctual one.
-- ON CONFLICT sees the latest row whatever the snapshot: of two tabs with one token exactly one continues it. Equal answers
-- are "kept already" whoever sends them: a tab that never heard the answer to its save simply sends the same again.
--
-- Locks: the attempt FOR NO KEY UPDATE, then its draft. Index: exams_attempt_pkey, gradebook_school_pkey, exams_draft_pkey.
-- Parameters: attempt_id, student_id uuid; answers text; token, next_token uuid (token null: nothing was kept yet).
-- Returns no row if it is not this student's; else whether it is open and when it ended, and token and saved_at if kept.
WITH attempt AS MATERIALIZED (
    SELECT attempt.id, attempt.state, attempt.grace_until, attempt.accepts_until, attempt.ended_at, school.time_zone
    FROM exams_attempt AS attempt
    JOIN gradebook_school AS school ON school.id = attempt.school_id
    WHERE attempt.id = %(attempt_id)s AND attempt.student_id = %(student_id)s
    FOR NO KEY UPDATE OF attempt
),
kept AS (
    INSERT INTO exams_draft AS draft (attempt_id, answers, token, saved_at)
    SELECT attempt.id, %(answers)s, %(next_token)s, statement_timestamp()
    FROM attempt
    WHERE attempt.state = 'open'
      AND statement_timestamp() <= attempt.grace_until
      AND (%(token)s::uuid IS NULL OR EXISTS (SELECT 1 FROM exams_draft WHERE exams_draft.attempt_id = attempt.id))
    ON CONFLICT (attempt_id) DO UPDATE
        SET answers = excluded.answers,
            token = CASE WHEN draft.token = %(token)s THEN excluded.token ELSE draft.token END,
            saved_at = CASE WHEN draft.token = %(token)s THEN excluded.saved_at ELSE draft.saved_at END
        WHERE draft.token = %(token)s OR draft.answers = excluded.answers
    RETURNING draft.token, draft.saved_at
)
SELECT
    attempt.state = 'open' AND statement_timestamp() <= attempt.grace_until AS is_open,
    attempt.state, coalesce(attempt.ended_at, attempt.grace_until) AS closed_at, attempt.accepts_until,
    attempt.time_zone, kept.token, kept.saved_at
FROM attempt
LEFT JOIN kept ON true;
