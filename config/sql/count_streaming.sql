-- How many standbys of this name stream from this server?
-- Locks: none. Index: none. Parameters: name text.
SELECT count(*) FROM pg_stat_replication WHERE application_name = %(name)s AND state = 'streaming';
