-- Let the application's role work with every table; what it may not do to the log is taken back by revoke_log.sql.
-- TRUNCATE is for rebuilding projections. Locks: none worth naming. Index: none. Parameters: {role}, the role's name.
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA public TO {role};
