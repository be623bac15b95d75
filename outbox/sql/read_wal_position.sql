-- How far is the write-ahead log flushed here, and how far on enough standbys? Run it after a commit: whatever was committed
-- before lies at or below `flushed`, so it is on enough standbys once `quorum` has reached that.
-- `server` tells one run of one primary from every other: positions of two servers must never be compared, and after a
-- promotion there may be two for a while. Raises 55000 on a standby.
-- Locks: none. Index: none. Parameters: members text[] (lower case), needed int: of how many standbys the position counts.
SELECT
    pg_postmaster_start_time()::text || ' ' || left(pg_walfile_name(flushed), 8) AS server,
    (flushed - '0/0'::pg_lsn)::bigint AS flushed,
    coalesce((
        SELECT (standby.flushed - '0/0'::pg_lsn)::bigint
        FROM outbox_standbys(%(members)s::text[]) AS standby
        ORDER BY standby.flushed DESC
        OFFSET %(needed)s::int - 1 LIMIT 1
    ), 0) AS quorum,
    (SELECT count(*) FROM outbox_standbys(%(members)s::text[])) AS streaming,
    current_setting('synchronous_standby_names') AS names,
    current_setting('synchronous_commit') AS level,
    current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' AS is_flushing
FROM pg_current_wal_flush_lsn() AS flushed;
