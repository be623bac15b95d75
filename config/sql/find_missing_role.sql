-- Is there no role of this name? One row when it is missing.
-- Locks: none. Index: pg_authid_rolname_index. Parameters: role text.
SELECT 1 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = %(role)s);
