\set n random(1, 281474976710655)
\set m random(1, 281474976710655)
INSERT INTO reference_submission
    (id, school_id, exam_id, attempt_id, student_id, revision_id, exam_revision, attempt_key, answers, payload_sha256,
     accepted_at, deadline, decision, decision_rule, origin, receipt_key_id, event_id)
VALUES
    (gen_random_uuid(), :id, :id, gen_random_uuid(), reference_uuid(:m), :id, 1, :key, :answers, :digest,
     now(), now(), 'on_time', 'exam close', 'student', '20261129T120000000000-abcdef', reference_uuid(:n));
