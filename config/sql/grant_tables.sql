-- Let the application's role work with every row of every table; what it may not do to the log is taken back by revoke_log.sql.
-- Locks: none worth naming. Index: none. Parameters: {role}, the role's name.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role};
