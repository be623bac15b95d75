-- Make a row for each cell that has none, as version 0 and blank; the same transaction writes version 1 over it or rolls back.
-- Locks: the new rows, in key order. A cell that another transaction is just making is waited for, then left alone.
-- Index: one_mark_per_cell decides who made the row.
-- Parameters: cells json, an array of {id, school_id, sheet_id, column_id, student_id}; source text; by uuid (null: no person).
INSERT INTO gradebook_mark
    (id, school_id, sheet_id, column_id, student_id, value, code, source,
     version, shown_version, updated_at, updated_by_id)
SELECT cell.id, cell.school_id, cell.sheet_id, cell.column_id, cell.student_id, NULL, '', %(source)s,
       0, 0, statement_timestamp(), %(by)s
FROM json_to_recordset(%(cells)s::json)
    AS cell (id uuid, school_id uuid, sheet_id uuid, column_id uuid, student_id uuid)
ORDER BY cell.column_id, cell.student_id
ON CONFLICT (sheet_id, column_id, student_id) DO NOTHING;
