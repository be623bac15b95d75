-- Insert the rows of a twin that the live table lacks. Second half of taking over its content, in the same transaction.
-- Locks: its own rows.
-- Index: none, it reads both whole.
-- Parameters: {live}, {twin}, {key} (the columns of the primary key).
INSERT INTO {live}
SELECT twin.*
FROM {twin} AS twin
LEFT JOIN {live} AS live USING ({key})
WHERE live.ctid IS NULL
