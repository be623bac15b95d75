-- The marks of a sheet that a reader holding `since` has not seen: their last change was not visible in that snapshot.
-- Exact by MVCC's own rule: nothing is missed because it committed late, and no clock decides. A snapshot from the future
-- (the database was restored from a backup) has seen nothing that can be relied on: everything is returned.
-- Locks: none.
-- Index: one_mark_per_cell by its first column; a sheet has a few thousand cells at most.
-- Parameters: sheet uuid, since text (a pg_snapshot).
SELECT mark.id, mark.sheet_id, mark.column_id, mark.student_id, mark.value, mark.code, mark.source,
       mark.automatic_value, mark.automatic_at, mark.version, mark.shown_version, mark.updated_at, mark.updated_by_id
FROM gradebook_mark AS mark
WHERE mark.sheet_id = %(sheet)s
  AND (pg_snapshot_xmax(%(since)s::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
       OR NOT pg_visible_in_snapshot(mark.changed_xid, %(since)s::pg_snapshot))
ORDER BY mark.column_id, mark.student_id;
