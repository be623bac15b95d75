-- Make the database; its owner owns the public schema too (PostgreSQL 15 and later), so migrations need no superuser.
-- Locks: none on other databases' data. Index: none. Parameters: none.
CREATE DATABASE handover OWNER handover_owner;
