-- The event log, its positions and its ticks are only ever added to; so are the old system's copies.
-- Locks: none worth naming. Index: none. Parameters: {role}, the role's name.
REVOKE UPDATE, DELETE, TRUNCATE ON outbox_event, outbox_eventposition, outbox_tick, gradebook_marksnapshot FROM {role};
