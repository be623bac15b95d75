-- Lock the marks of these cells and return what they hold; a cell without a row is not in the answer.
-- Locks: the rows FOR NO KEY UPDATE, in key order, so that two savers of overlapping cells wait and never deadlock.
-- Index: one_mark_per_cell, one probe a cell.
-- Parameters: cells json, an array of {sheet_id, column_id, student_id}.
SELECT mark.id, mark.sheet_id, mark.column_id, mark.student_id, mark.value, mark.code, mark.source,
       mark.automatic_value, mark.automatic_at, mark.version, mark.shown_version, mark.updated_at, mark.updated_by_id
FROM json_to_recordset(%(cells)s::json) AS cell (sheet_id uuid, column_id uuid, student_id uuid)
JOIN gradebook_mark AS mark
  ON mark.sheet_id = cell.sheet_id
 AND mark.column_id = cell.column_id
 AND mark.student_id = cell.student_id
ORDER BY mark.column_id, mark.student_id
FOR NO KEY UPDATE OF mark;
