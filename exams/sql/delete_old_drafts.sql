-- Delete some drafts of attempts that ended long ago.
-- Locks: the drafts; those that somebody else has locked are passed over.
-- Index: exams_draft_pkey in order, exams_attempt_pkey. A draft table holds what is open and what ended lately, so it is short.
-- Parameters: days integer, at_most integer.
DELETE FROM exams_draft AS draft
WHERE draft.attempt_id IN (
    SELECT old.attempt_id
    FROM exams_draft AS old
    JOIN exams_attempt AS attempt ON attempt.id = old.attempt_id
    WHERE attempt.state <> 'open' AND attempt.ended_at < clock_timestamp() - make_interval(days => %(days)s)
    ORDER BY old.attempt_id
    LIMIT %(at_most)s
    FOR UPDATE OF old SKIP LOCKED
)
