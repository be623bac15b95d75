-- Delete the draft of an attempt that its student handed in. A submission made by the server may be withdrawn and its attempt opened
-- again, with the draft as the student left it, so that one stays.
-- Locks: the draft. Nobody writes the draft of an attempt that is not open.
-- Index: exams_submission_pkey, exams_draft_pkey.
-- Parameters: submission_id uuid.
DELETE FROM exams_draft AS draft
USING exams_submission AS submission
WHERE submission.id = %(submission_id)s AND submission.origin = 'student'
  AND draft.attempt_id = submission.attempt_id
