-- Show the first few rows in which a live table and its twin differ; null stands for "no such row".
-- Locks: none.
-- Index: none, it reads both whole.
-- Parameters: {live}, {twin}, {key} (the columns of the primary key); limit integer.
SELECT CASE WHEN live.ctid IS NOT NULL THEN to_jsonb(live) END::text,
       CASE WHEN twin.ctid IS NOT NULL THEN to_jsonb(twin) END::text
FROM {live} AS live
FULL JOIN {twin} AS twin USING ({key})
WHERE live.ctid IS NULL OR twin.ctid IS NULL OR live *<> twin
ORDER BY {key}
LIMIT %(limit)s
