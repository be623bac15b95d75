-- Which standby is furthest from having replayed what was written here, and by how many bytes? No row where none follows.
-- Locks: none. Index: none. Parameters: none.
SELECT standby.name, standby.behind
FROM outbox_standby_lag() AS standby
ORDER BY standby.behind DESC, standby.name
LIMIT 1;
