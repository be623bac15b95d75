-- Append events to the log, in array order, in the caller's transaction. A function (migration 0011), because its plan is kept.
-- Locks: none of its own; the caller holds the row of every subject (that gives per-subject order).
-- Index: unique (subject, subject_version) refuses a second event for one version.
-- Parameters: events json, an array of objects with event_id, tenant_id, kind, schema_version, subject, subject_version,
--             actor_type, actor_id, batch_id, cause_id, correlation_id, payload.
SELECT outbox_append_events(%(events)s::json);
