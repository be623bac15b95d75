-- The event log, its positions and its ticks are only ever added to.
-- Locks: none worth naming. Index: none. Parameters: {role}, the role's name.
REVOKE UPDATE, DELETE, TRUNCATE ON outbox_event, outbox_eventposition, outbox_tick FROM {role};
