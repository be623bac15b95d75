-- Emptying a table asks no trigger for a row: what never changes could be gone at once. Earlier versions gave this right on every table.
-- Locks: none worth naming. Index: none. Parameters: {role}, the role's name.
REVOKE TRUNCATE ON ALL TABLES IN SCHEMA public FROM {role};
