-- Read versions of photographed answers whose time for a look has come, with what decides about them.
-- A version is named if its digest occurs in a submission of its attempt, withdrawn or not, or in the draft: 64 hex digits are
-- nobody's prose, so looking for the text is enough, and an error would only keep a file.
-- Submissions are found by their student: those that were withdrawn are in no index by attempt.
-- Locks: none; whoever abandons one locks and asks again.
-- Index: attachments_review_idx, exams_attachment_pkey, exams_attempt_pkey, submissions_student_idx, exams_draft_pkey.
-- Parameters: at_most int; version_id uuid (null: any).
SELECT
    version.id, version.state, version.touched_at, attempt.state, attempt.ended_at,
    EXISTS (
        SELECT 1 FROM exams_submission AS submission
        WHERE submission.student_id = attempt.student_id AND submission.attempt_id = attempt.id
          AND strpos(submission.answers, version.sha256) > 0
    ) OR EXISTS (
        SELECT 1 FROM exams_draft AS draft
        WHERE draft.attempt_id = attempt.id AND strpos(draft.answers, version.sha256) > 0
    ) AS is_named,
    statement_timestamp() AS now
FROM exams_attachmentversion AS version
JOIN exams_attachment AS attachment ON attachment.id = version.attachment_id
JOIN exams_attempt AS attempt ON attempt.id = attachment.attempt_id
WHERE version.review_at <= statement_timestamp() AND (%(version_id)s::uuid IS NULL OR version.id = %(version_id)s)
ORDER BY version.review_at
LIMIT %(at_most)s;
