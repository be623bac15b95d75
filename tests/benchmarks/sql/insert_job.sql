INSERT INTO reference_job (tenant_id, group_id, job_id, kind, subject_id)
VALUES (:id, :id, gen_random_uuid(), 'grade', reference_uuid(:n));
