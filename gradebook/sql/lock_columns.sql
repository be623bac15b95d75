-- Return columns of a sheet, standing still until the transaction ends: savers share them, an edit of a column waits.
-- A function (migration 0010), because its plan is kept.
-- Locks: the rows FOR SHARE, in id order.
-- Index: the primary key.
-- Parameters: sheet uuid, ids uuid[].
SELECT id, title, max_points FROM gradebook_lock_columns(%(sheet)s, %(ids)s::uuid[]);
