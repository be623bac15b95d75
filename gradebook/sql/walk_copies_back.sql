-- Yield a sheet's copies from before the log, newest first, from one on.
-- Locks: none.
-- Index: snapshots_walk_idx, backwards.
-- Parameters: sheet uuid; upto_at timestamptz and upto_id uuid, the copy to begin with (NULL: the newest); most bigint.
SELECT copy.id, copy.school_id, copy.sheet_id, copy.action, copy.created_at, copy.created_by_id, copy.created_by_name, copy.batch_id,
       copy.layout, copy.cells
FROM gradebook_marksnapshot AS copy
WHERE copy.sheet_id = %(sheet)s AND copy.batch_id IS NULL
  AND (%(upto_at)s::timestamptz IS NULL OR (copy.created_at, copy.id) <= (%(upto_at)s::timestamptz, %(upto_id)s::uuid))
ORDER BY copy.created_at DESC, copy.id DESC
LIMIT %(most)s
