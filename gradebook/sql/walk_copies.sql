-- Yield all copies of a sheet, oldest first.
-- Locks: none.
-- Index: snapshots_walk_idx.
-- Parameters: sheet uuid.
SELECT copy.id, copy.school_id, copy.sheet_id, copy.action, copy.created_at, copy.created_by_id, copy.created_by_name, copy.batch_id,
       copy.layout, copy.cells
FROM gradebook_marksnapshot AS copy
WHERE copy.sheet_id = %(sheet)s
ORDER BY copy.created_at, copy.id
