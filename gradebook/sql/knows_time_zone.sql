-- Ask whether the database knows a time zone of this name: its list and Python's come from different places, and may be of different years.
-- Locks: none. Index: none; it reads the server's time zone files, some dozen milliseconds.
-- Parameters: name text.
SELECT EXISTS (SELECT FROM pg_timezone_names AS zone WHERE zone.name = %(name)s)
