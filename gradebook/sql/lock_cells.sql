-- Lock the marks of these cells and return what they hold; a cell without a row is not in the answer.
-- A function (migration 0010), because its plan is kept.
-- Locks: the rows FOR NO KEY UPDATE, in key order, so that two savers of overlapping cells wait and never deadlock.
-- Index: one_mark_per_cell, one probe a cell.
-- Parameters: cells json, an array of {sheet_id, column_id, student_id}.
SELECT id, sheet_id, column_id, student_id, value, code, source,
       automatic_value, automatic_at, version, shown_version, updated_at, updated_by_id
FROM gradebook_lock_cells(%(cells)s::json);
