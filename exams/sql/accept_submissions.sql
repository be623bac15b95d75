-- Decide a group of hand-ins and store the accepted ones: submission, job, event and attempt in one statement, one commit.
--
-- The rule for each hand-in, by its attempt under the row lock. `arrived_at` is this statement's database clock minus the
-- time the request has waited in the gate, so that waiting makes nobody late:
--   not_found   there is no such attempt of this student
--   closed      the server ended it, or it was not taken, or the hand-in arrived after `accepts_until`
--   replayed    this student already handed in answers with this digest: the same receipt again
--   different   this student already handed in other answers: nothing is overwritten
--   accepted    `on_time` until closes_at, `grace` until grace_until, `late` until accepts_until (each moment included)
--   busy        somebody holds the row, or changed it after this statement's snapshot was taken: ask again
--
-- Locks: the attempts, FOR NO KEY UPDATE SKIP LOCKED: a group waits for no row, so it can neither deadlock nor be held up by
--   one. A replay locks its row too, so that its commit is a barrier of the same strength as the first one's.
--   The lock precedes the event (ADR 0001), whose version is read under it. A stranger's insert without the lock runs into
--   one_submission_per_attempt; the statement fails whole and the next try sees the winner.
-- Index: exams_attempt_pkey, exams_examrevision_pkey, one_submission_per_attempt; see exams/gate/session.py for the settings.
--   The plan is made once, maybe over empty tables, and must be right for full ones. LIMIT 1 keeps each look-up apart: joined
--   plainly, the planner read a table of "40 rows" whole for each hand-in, and it grew to thousands. IS NOT DISTINCT FROM
--   keeps it from looking for an attempt among all attempts of the student.
-- Settings: TimeZone must be UTC (the session's is): times are written as texts, for the receipt and the event alike.
-- Parameters: arrays of equal length, one element a hand-in, no attempt twice; key_id names the key that signs the receipts.
--   correlation_ids: what the request called itself, else the submission's id.
-- Returns a row for each hand-in: its place in the arrays (from 1), the verdict, the receipt's facts where there is a
--   receipt, when the attempt ended or will end, and by which rule.
WITH judged AS MATERIALIZED (
    SELECT
        asked.*, attempt.*, revision.number AS exam_revision,
        CASE
            WHEN attempt.id IS NULL THEN
                CASE WHEN EXISTS (
                    SELECT 1 FROM exams_attempt AS held
                    WHERE held.id = asked.attempt_id AND held.student_id IS NOT DISTINCT FROM asked.student_id
                ) THEN 'busy' ELSE 'not_found' END
            WHEN stored.origin = 'server' OR attempt.state = 'not_taken' THEN 'closed'
            WHEN stored.payload_sha256 = asked.digest THEN 'replayed'
            WHEN stored.id IS NOT NULL THEN 'different'
            WHEN attempt.state <> 'open' THEN 'busy'
            WHEN attempt.arrived_at > attempt.accepts_until THEN 'closed'
            ELSE 'accepted'
        END AS verdict,
        CASE
            WHEN attempt.arrived_at <= attempt.closes_at THEN 'on_time'
            WHEN attempt.arrived_at <= attempt.grace_until THEN 'grace'
            ELSE 'late'
        END AS decision,
        said.*, stored.id AS stored_id, stored.attempt_key AS stored_attempt_key, stored.exam_revision AS stored_revision,
        stored.payload_sha256 AS stored_digest, stored.decision AS stored_decision, stored.receipt_key_id AS stored_key_id
    FROM unnest(
        %(attempt_ids)b::uuid[], %(student_ids)b::uuid[], %(submission_ids)b::uuid[], %(event_ids)b::uuid[],
        %(job_ids)b::uuid[], %(correlation_ids)b::uuid[], %(digests)b::text[], %(answers)b::text[], %(waits)b::float8[]
    ) WITH ORDINALITY AS asked (
        attempt_id, student_id, submission_id, event_id, job_id, correlation_id, digest, answers, waited, ordinal)
    LEFT JOIN LATERAL (
        SELECT
            own.id, own.school_id, own.exam_id, own.revision_id, own.number, own.state, own.closes_at, own.grace_until,
            own.accepts_until, own.ended_at, own.deadline_rule, own.version,
            own.exam_id || ':' || own.student_id || ':' || own.number AS attempt_key,
            statement_timestamp() - make_interval(secs => asked.waited) AS arrived_at
        FROM exams_attempt AS own
        WHERE own.id = asked.attempt_id AND own.student_id IS NOT DISTINCT FROM asked.student_id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS attempt ON true
    LEFT JOIN LATERAL (
        SELECT number FROM exams_examrevision WHERE id = attempt.revision_id LIMIT 1
    ) AS revision ON true
    LEFT JOIN LATERAL (
        SELECT * FROM exams_submission WHERE attempt_id = attempt.id AND withdrawn_at IS NULL LIMIT 1
    ) AS stored ON true
    CROSS JOIN LATERAL (
        SELECT
            to_char(
                coalesce(stored.accepted_at, attempt.arrived_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'
            ) AS accepted_text,
            to_char(
                coalesce(stored.deadline, attempt.closes_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'
            ) AS deadline_text
    ) AS said
),
submission AS (
    INSERT INTO exams_submission
        (id, school_id, exam_id, attempt_id, student_id, revision_id, exam_revision, attempt_key, answers, payload_sha256,
         accepted_at, deadline, decision, decision_rule, origin, receipt_key_id, event_id)
    SELECT
        submission_id, school_id, exam_id, attempt_id, student_id, revision_id, exam_revision, attempt_key, answers, digest,
        arrived_at, closes_at, decision, deadline_rule, 'student', %(key_id)b::text, event_id
    FROM judged
    WHERE verdict = 'accepted'
),
job AS (
    INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id)
    SELECT school_id, exam_id, job_id, 'grade', submission_id
    FROM judged
    WHERE verdict = 'accepted'
),
event AS (
    INSERT INTO outbox_event
        (event_id, tenant_id, kind, schema_version, subject, subject_version, actor_type, actor_id, correlation_id, payload)
    SELECT
        event_id, school_id, 'SubmissionAccepted', 1, 'attempt:' || judged.attempt_id, version + 1, 'person',
        judged.student_id, judged.correlation_id,
        to_jsonb(fact)
    FROM judged
    CROSS JOIN LATERAL (
        SELECT
            judged.attempt_id, judged.exam_id, judged.student_id, judged.number, judged.submission_id,
            judged.digest AS payload_sha256,
            judged.accepted_text AS accepted_at, judged.deadline_text AS deadline, judged.decision, 'student' AS origin
    ) AS fact
    WHERE verdict = 'accepted'
),
ended AS (
    UPDATE exams_attempt AS attempt
    SET state = 'submitted', version = attempt.version + 1, ended_at = judged.arrived_at
    FROM judged
    WHERE attempt.id = judged.attempt_id AND judged.verdict = 'accepted'
)
SELECT
    ordinal, verdict, exam_id::text,
    CASE WHEN verdict = 'accepted' THEN submission_id ELSE stored_id END::text AS id,
    coalesce(stored_attempt_key, attempt_key) AS attempt_key,
    coalesce(stored_revision, exam_revision) AS exam_revision,
    coalesce(stored_digest, digest) AS payload_sha256,
    accepted_text AS accepted_at,
    deadline_text AS deadline,
    coalesce(stored_decision, decision) AS decision,
    coalesce(stored_key_id, %(key_id)b::text) AS key_id,
    coalesce(ended_at, accepts_until) AS closed_at,
    deadline_rule
FROM judged;
