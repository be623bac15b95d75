-- List who has tables of this database in hand at this moment, the one that began first at the top. When a session began is seen by all
-- roles; what it does, only by its own and by members of pg_read_all_stats.
-- Locks: none. Index: none.
-- Parameters: none.
SELECT session.pid, session.usename, session.application_name
FROM pg_stat_activity AS session
WHERE session.pid <> pg_backend_pid()
  AND EXISTS (
      SELECT FROM pg_locks AS held
      JOIN pg_class AS relation ON relation.oid = held.relation
      WHERE held.pid = session.pid AND held.granted AND relation.relkind = 'r'
        AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND relation.relnamespace = current_schema()::regnamespace
  )
ORDER BY session.backend_start
LIMIT 5
