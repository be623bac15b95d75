-- Count the hot table for people and meters: what waits in which lane, what is put off, what is in hand, what is suspect.
-- Locks: none.
-- Index: none, it reads the table once; not for hot paths.
-- Parameters: fresh_for interval.
SELECT count(*) FILTER (WHERE job.state = 0 AND job.run_at <= statement_timestamp() AND NOT late.served_as_backlog) AS fresh,
       count(*) FILTER (WHERE job.state = 0 AND job.run_at <= statement_timestamp() AND late.served_as_backlog) AS backlog,
       COALESCE(extract(epoch FROM statement_timestamp() - min(job.run_at) FILTER (
           WHERE job.state = 0 AND job.run_at <= statement_timestamp() AND NOT late.served_as_backlog)), 0)::float8 AS fresh_age,
       COALESCE(extract(epoch FROM statement_timestamp() - min(job.run_at) FILTER (
           WHERE job.state = 0 AND job.run_at <= statement_timestamp() AND late.served_as_backlog)), 0)::float8 AS backlog_age,
       count(*) FILTER (WHERE job.state = 0 AND job.run_at > statement_timestamp()) AS put_off,
       count(*) FILTER (WHERE job.state = 1) AS running,
       count(*) FILTER (WHERE job.state = 1 AND job.leased_until < statement_timestamp()) AS expired,
       count(*) FILTER (WHERE job.lost_leases > 0) AS suspects
FROM outbox_job AS job
CROSS JOIN LATERAL (
    SELECT job.lane = 1 OR job.run_at < statement_timestamp() - %(fresh_for)s::interval AS served_as_backlog
) AS late;
