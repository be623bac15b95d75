"""How far each standby is from having replayed what was written here: for a role that may not look into `pg_stat_replication`.

SECURITY DEFINER, as `outbox_standbys` is, and with the same need of its owner. In bytes, because a time says nothing of a standby that
stands still: PostgreSQL's `replay_lag` stays at what was measured last.
"""

from django.db import migrations

STANDBY_LAG = """
    CREATE FUNCTION outbox_standby_lag() RETURNS TABLE (name text, behind bigint)
    LANGUAGE sql SECURITY DEFINER ROWS 3 SET search_path = pg_catalog, pg_temp AS $$
        SELECT application_name, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint
        FROM pg_stat_replication
        WHERE replay_lsn IS NOT NULL
    $$;
    REVOKE ALL ON FUNCTION outbox_standby_lag() FROM PUBLIC;
"""
NO_STANDBY_LAG = "DROP FUNCTION outbox_standby_lag();"


class Migration(migrations.Migration):
    dependencies = [("outbox", "0009_overlap_webhook_secrets")]

    operations = [migrations.RunSQL(STANDBY_LAG, NO_STANDBY_LAG)]
