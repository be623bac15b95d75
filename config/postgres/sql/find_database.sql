-- Is there a database of this name? Purpose: CREATE DATABASE has no IF NOT EXISTS.
-- Locks: none. Index: pg_database_datname_index. Parameters: name text.
SELECT 1 FROM pg_database WHERE datname = %(name)s;
