-- Append events to the log, in array order, in the caller's transaction.
-- Locks: none of its own; the caller holds the row of every subject (that gives per-subject order).
-- Index: unique (subject, subject_version) refuses a second event for one version.
-- Parameters: events json, an array of objects with the column names below.
INSERT INTO outbox_event
    (event_id, tenant_id, kind, schema_version, subject, subject_version,
     actor_type, actor_id, batch_id, cause_id, correlation_id, payload)
SELECT event.event_id, event.tenant_id, event.kind, event.schema_version, event.subject, event.subject_version,
       event.actor_type, event.actor_id, event.batch_id, event.cause_id, event.correlation_id, event.payload
FROM ROWS FROM (
    json_to_recordset(%(events)s::json) AS (
        event_id uuid, tenant_id uuid, kind text, schema_version smallint, subject text, subject_version integer,
        actor_type text, actor_id uuid, batch_id uuid, cause_id uuid, correlation_id uuid, payload jsonb)
) WITH ORDINALITY AS event
ORDER BY event.ordinality;
