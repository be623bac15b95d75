-- List the sheets that have copies: one probe a sheet, however many copies there are.
-- Locks: none.
-- Index: snapshots_walk_idx, one probe for each sheet.
-- Parameters: before_log boolean, to list only those with copies from before the log.
SELECT sheet.id
FROM gradebook_marksheet AS sheet
WHERE EXISTS (SELECT FROM gradebook_marksnapshot AS copy
              WHERE copy.sheet_id = sheet.id AND (copy.batch_id IS NULL OR NOT %(before_log)s))
ORDER BY sheet.id
