-- The tables of the drain and rescue benchmarks. No key on results and events: a job done twice shall show.
CREATE TABLE IF NOT EXISTS bench_submission (id bigint PRIMARY KEY, exam_id bigint NOT NULL, answers jsonb NOT NULL);

CREATE TABLE IF NOT EXISTS bench_key (exam_id bigint PRIMARY KEY, answers jsonb NOT NULL);

CREATE TABLE IF NOT EXISTS bench_result (submission_id bigint NOT NULL, points integer NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());

CREATE TABLE IF NOT EXISTS bench_event (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, submission_id bigint NOT NULL, payload jsonb NOT NULL);

CREATE INDEX IF NOT EXISTS bench_results_idx ON bench_result (submission_id);
