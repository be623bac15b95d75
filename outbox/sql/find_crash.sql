-- Say whether a process of this role may have ended without signing off: a heartbeat is there that is not ours. That of a living
-- instance beside us counts too, which costs some care and nothing else.
-- Locks: none.
-- Index: heartbeats_role_idx.
-- Parameters: role text, incarnation uuid (the one who asks).
SELECT EXISTS (
    SELECT FROM outbox_heartbeat AS heartbeat
    WHERE heartbeat.role = %(role)s AND heartbeat.incarnation <> %(incarnation)s
);
