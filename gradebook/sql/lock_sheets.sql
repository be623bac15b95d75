-- Lock sheets for whoever copies them: the next copy of a sheet is made only after this one's transaction has ended, and sees all of it.
-- Locks: the sheets FOR NO KEY UPDATE, in the order of their ids; after the cells, which nobody locks while holding a sheet.
-- Index: the primary key.
-- Parameters: sheets uuid[].
SELECT sheet.id
FROM gradebook_marksheet AS sheet
WHERE sheet.id = ANY (%(sheets)s::uuid[])
ORDER BY sheet.id
FOR NO KEY UPDATE
