-- Count a sheet's copies from before the log.
-- Locks: none.
-- Index: snapshots_walk_idx.
-- Parameters: sheet uuid.
SELECT count(*)
FROM gradebook_marksnapshot AS copy
WHERE copy.sheet_id = %(sheet)s AND copy.batch_id IS NULL
