INSERT INTO reference_submission
    (id, school_id, exam_id, attempt_id, student_id, revision_id, exam_revision, attempt_key, answers, payload_sha256,
     accepted_at, deadline, decision, decision_rule, origin, receipt_key_id, event_id)
VALUES
    (uuidv7(), :id, :id, uuidv7(), uuidv7(), :id, 1, :key, :answers, :digest,
     now(), now(), 'on_time', 'exam close', 'student', '20261129T120000-abcdef', uuidv7());
