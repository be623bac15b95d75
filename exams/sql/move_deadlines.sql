-- Give locked attempts their new deadlines, and open again those that the server had ended.
-- Locks: the attempts; the caller holds them already. Index: exams_attempt_pkey.
-- Parameters: arrays of equal length, one element an attempt: ids uuid[], closes, grace, accepts timestamptz[], rules text[].
UPDATE exams_attempt AS attempt
SET closes_at = moved.closes_at,
    grace_until = moved.grace_until,
    accepts_until = moved.accepts_until,
    deadline_rule = moved.rule,
    state = 'open',
    ended_at = NULL,
    failure_reason = '',
    version = attempt.version + 1
FROM unnest(
    %(ids)s::uuid[], %(closes)s::timestamptz[], %(grace)s::timestamptz[], %(accepts)s::timestamptz[], %(rules)s::text[]
) AS moved (id, closes_at, grace_until, accepts_until, rule)
WHERE attempt.id = moved.id;
