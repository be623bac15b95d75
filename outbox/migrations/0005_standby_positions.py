"""Which standbys stream, and how far they have flushed: for a role that may not look into `pg_stat_replication`.

SECURITY DEFINER: the application's role gets these two columns of the standbys it names, and nothing else. The owner must be a
superuser or have `pg_read_all_stats`, else the positions come back empty (`manage.py check --deploy` says so).
"""

from django.db import migrations

STANDBYS = """
    CREATE FUNCTION outbox_standbys(members text[]) RETURNS TABLE (name text, flushed pg_lsn)
    LANGUAGE sql SECURITY DEFINER ROWS 3 SET search_path = pg_catalog, pg_temp AS $$
        SELECT lower(application_name), max(flush_lsn)
        FROM pg_stat_replication
        WHERE lower(application_name) = ANY (members) AND state = 'streaming' AND flush_lsn IS NOT NULL
        GROUP BY 1
    $$;
    REVOKE ALL ON FUNCTION outbox_standbys(text[]) FROM PUBLIC;
"""
NO_STANDBYS = "DROP FUNCTION outbox_standbys(text[]);"


class Migration(migrations.Migration):
    dependencies = [("outbox", "0004_job_keys")]

    operations = [migrations.RunSQL(STANDBYS, NO_STANDBYS)]
