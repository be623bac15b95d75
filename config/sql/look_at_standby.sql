-- Is this a standby, what does it call itself, and from where does it stream?
-- Locks: none. Index: none. Parameters: none.
SELECT pg_is_in_recovery(), current_setting('cluster_name'), current_setting('primary_conninfo'),
       current_setting('synchronous_standby_names');
