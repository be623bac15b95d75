-- Delete the rows of a live table that its twin does not have, or has otherwise. First half of taking over the twin's content.
-- Locks: the rows it deletes; readers go on seeing them until the commit.
-- Index: none, it reads both whole.
-- Parameters: {live}, {twin}, {key} (the columns of the primary key).
DELETE FROM {live} AS doomed
WHERE doomed.ctid IN (
    SELECT live.ctid
    FROM {live} AS live
    LEFT JOIN {twin} AS twin USING ({key})
    WHERE twin.ctid IS NULL OR live *<> twin)
