-- Say how many dead rows of the hot table wait to be cleaned away, as the server's statistics have it.
-- Locks: none. Index: none.
-- Parameters: none.
SELECT COALESCE(pg_stat_get_dead_tuples('outbox_job'::regclass), 0) AS dead_rows;
