-- Compare a live table with its twin, row by row and byte by byte.
-- Locks: none; the consumer's row is held, so nobody writes to either meanwhile.
-- Index: none, it reads both whole.
-- Parameters: {live}, {twin}, {key} (the columns of the primary key).
SELECT count(*) FILTER (WHERE live.ctid IS NULL),
       count(*) FILTER (WHERE twin.ctid IS NULL),
       count(*) FILTER (WHERE live.ctid IS NOT NULL AND twin.ctid IS NOT NULL)
FROM {live} AS live
FULL JOIN {twin} AS twin USING ({key})
WHERE live.ctid IS NULL OR twin.ctid IS NULL OR live *<> twin
