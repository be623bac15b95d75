-- Make an empty twin of a projection's table: same columns, checks and indexes, and gone with the session.
-- Locks: ACCESS SHARE on the live table, for a moment.
-- Index: none.
-- Parameters: {live} and {twin}, the tables' names.
CREATE TEMPORARY TABLE {twin} (LIKE {live} INCLUDING ALL)
