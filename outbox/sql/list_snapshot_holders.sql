-- List who keeps dead rows from being cleaned away, the oldest first: open snapshots, prepared transactions, slots, standbys.
-- Of other roles' sessions a role without pg_read_all_stats sees nothing.
-- Locks: none. Index: none.
-- Parameters: at_most integer.
SELECT holder.kind, holder.name, holder.seconds::float8, holder.transactions
FROM (
    SELECT 'session' AS kind,
           concat_ws(' ', activity.pid, activity.usename, nullif(activity.application_name, ''), activity.state) AS name,
           extract(epoch FROM clock_timestamp() - activity.xact_start) AS seconds,
           age(activity.backend_xmin) AS transactions
    FROM pg_stat_activity AS activity
    WHERE activity.backend_xmin IS NOT NULL AND activity.pid <> pg_backend_pid()
      AND activity.backend_type <> 'walsender'
    UNION ALL
    SELECT 'prepared transaction', prepared.gid, extract(epoch FROM clock_timestamp() - prepared.prepared),
           age(prepared.transaction)
    FROM pg_prepared_xacts AS prepared
    UNION ALL
    SELECT 'slot', slot.slot_name, NULL, greatest(age(slot.xmin), age(slot.catalog_xmin))
    FROM pg_replication_slots AS slot
    WHERE slot.xmin IS NOT NULL OR slot.catalog_xmin IS NOT NULL
    UNION ALL
    SELECT 'standby', standby.application_name, NULL, age(standby.backend_xmin)
    FROM pg_stat_replication AS standby
    WHERE standby.backend_xmin IS NOT NULL
) AS holder
ORDER BY holder.seconds DESC NULLS LAST, holder.transactions DESC
LIMIT %(at_most)s;
