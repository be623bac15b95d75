"""The function events are appended by: see sql/append_events.sql. What is in it is parsed and planned once a session, not once a change."""

from django.db import migrations

APPEND_EVENTS = """
    CREATE FUNCTION outbox_append_events(events json) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        INSERT INTO outbox_event
            (event_id, tenant_id, kind, schema_version, subject, subject_version,
             actor_type, actor_id, batch_id, cause_id, correlation_id, payload)
        SELECT event.event_id, event.tenant_id, event.kind, event.schema_version, event.subject, event.subject_version,
               event.actor_type, event.actor_id, event.batch_id, event.cause_id, event.correlation_id, event.payload
        FROM ROWS FROM (
            json_to_recordset(events) AS (
                event_id uuid, tenant_id uuid, kind text, schema_version smallint, subject text, subject_version integer,
                actor_type text, actor_id uuid, batch_id uuid, cause_id uuid, correlation_id uuid, payload jsonb)
        ) WITH ORDINALITY AS event
        ORDER BY event.ordinality;
    END
    $$;
"""
NOT_BY_FUNCTION = "DROP FUNCTION outbox_append_events(json);"


class Migration(migrations.Migration):
    dependencies = [("outbox", "0010_standby_lag")]

    operations = [migrations.RunSQL(APPEND_EVENTS, NOT_BY_FUNCTION)]
