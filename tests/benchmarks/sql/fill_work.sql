-- Empty the tables, and hand in some submissions of about 1.5 KB of answers each; the same ones for the same seed.
-- Parameters: count integer, exams integer, answers integer (a submission), seed float8.
TRUNCATE bench_submission, bench_key, bench_result, bench_event;

SELECT setseed(%(seed)s);

INSERT INTO bench_key (exam_id, answers)
SELECT exam, (SELECT jsonb_object_agg('question-' || question, 'option-' || question %% 4) FROM generate_series(1, %(answers)s) AS question)
FROM generate_series(0, %(exams)s - 1) AS exam;

INSERT INTO bench_submission (id, exam_id, answers)
SELECT number, number %% %(exams)s,
       (SELECT jsonb_object_agg('question-' || question, 'option-' || (question + (random() * 1.2)::integer) %% 4)
        FROM generate_series(1, %(answers)s) AS question WHERE number > 0)
FROM generate_series(1, %(count)s) AS number;

VACUUM ANALYZE bench_submission, bench_key, bench_result, bench_event;

CHECKPOINT
