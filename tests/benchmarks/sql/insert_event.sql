INSERT INTO reference_event (event_id, tenant_id, kind, subject, subject_version, actor_type, actor_id, payload)
VALUES (uuidv7(), :id, 'SubmissionAccepted', 'attempt:' || uuidv7(), 1, 'person', uuidv7(), :payload);
