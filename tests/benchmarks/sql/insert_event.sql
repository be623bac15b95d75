INSERT INTO reference_event (event_id, tenant_id, kind, subject, subject_version, actor_type, actor_id, payload)
VALUES (gen_random_uuid(), :id, 'SubmissionAccepted', 'attempt:' || reference_uuid(:m), 1, 'person', reference_uuid(:m), :payload);
