-- Return columns of a sheet, standing still until the transaction ends: savers share them, an edit of a column waits.
-- Locks: the rows FOR SHARE, in id order.
-- Index: the primary key.
-- Parameters: sheet uuid, ids uuid[].
SELECT "column".*
FROM gradebook_column AS "column"
WHERE "column".id = ANY (%(ids)s)
  AND "column".sheet_id = %(sheet)s
ORDER BY "column".id
FOR SHARE;
