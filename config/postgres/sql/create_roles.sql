-- Make the two roles of an embedded server, once. Neither is a superuser; both are let in by their system account (pg_ident.conf).
--   handover_owner  owns the tables: migrations only
--   handover_app    everything else; cannot rewrite the event log (config/sql/*.sql)
-- The owner may see how far standbys are: outbox_standbys() runs with its rights.
-- Locks: none worth naming. Index: none. Parameters: none.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'handover_owner') THEN
        CREATE ROLE handover_owner LOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'handover_app') THEN
        CREATE ROLE handover_app LOGIN;
    END IF;
    GRANT pg_read_all_stats TO handover_owner;
END
$$;
