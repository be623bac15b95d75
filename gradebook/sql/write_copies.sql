-- Write a copy of each of these sheets as this transaction leaves them, beside the events of one batch.
-- A sheet takes part if it has copies, or if nobody had entered a mark in it before this transaction: what was marked without the old system
-- needs no copies. A copy is always later than the one before it, even where the clock was set back.
-- Locks: none new; the sheets are locked (lock_sheets.sql), so that two copies of a sheet follow each other.
-- Index: snapshots_walk_idx, one_mark_per_cell by its first column.
-- Parameters: copies json, an array of {id, sheet_id}; action text; by uuid, by_name text; batch uuid.
INSERT INTO gradebook_marksnapshot
    (id, school_id, sheet_id, action, created_at, created_by_id, created_by_name, batch_id, layout, cells)
SELECT wanted.id, sheet.school_id, sheet.id, %(action)s,
       GREATEST(clock_timestamp(), newest.created_at + interval '1 microsecond'),
       %(by)s::uuid, %(by_name)s, %(batch)s::uuid,
       jsonb_build_object('columns', layout.columns, 'categories', layout.categories, 'students', COALESCE(marks.students, '[]')),
       COALESCE(marks.cells, '{}')
FROM json_to_recordset(%(copies)s::json) AS wanted (id uuid, sheet_id uuid)
JOIN gradebook_marksheet AS sheet ON sheet.id = wanted.sheet_id
LEFT JOIN LATERAL (
    SELECT copy.created_at
    FROM gradebook_marksnapshot AS copy
    WHERE copy.sheet_id = sheet.id
    ORDER BY copy.created_at DESC, copy.id DESC
    LIMIT 1
) AS newest ON true
CROSS JOIN LATERAL (
    SELECT (SELECT COALESCE(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                                          'id', sheet_column.id, 'title', sheet_column.title,
                                          'max_points', trim_scale(sheet_column.max_points)::text, 'category', category.name))
                                      ORDER BY sheet_column.position, sheet_column.id), '[]')
            FROM gradebook_column AS sheet_column
            LEFT JOIN gradebook_category AS category ON category.id = sheet_column.category_id
            WHERE sheet_column.sheet_id = sheet.id) AS columns,
           (SELECT COALESCE(jsonb_agg(jsonb_build_object('name', category.name, 'weight', trim_scale(category.weight)::text)
                                      ORDER BY category.position, category.id), '[]')
            FROM gradebook_category AS category
            WHERE category.sheet_id = sheet.id) AS categories
) AS layout
CROSS JOIN LATERAL (
    SELECT jsonb_object_agg(line.student_id, line.cells) AS cells,
           jsonb_agg(jsonb_build_object('id', line.student_id, 'name', line.name) ORDER BY line.student_id) AS students
    FROM (
        SELECT mark.student_id,
               COALESCE(NULLIF(trim(student.first_name || ' ' || student.last_name), ''), student.username) AS name,
               jsonb_object_agg(mark.column_id, jsonb_strip_nulls(jsonb_build_object(
                   'value', trim_scale(mark.value)::text, 'code', NULLIF(mark.code, ''), 'source', mark.source))) AS cells
        FROM gradebook_mark AS mark
        JOIN gradebook_user AS student ON student.id = mark.student_id
        WHERE mark.sheet_id = sheet.id
        GROUP BY mark.student_id, student.id
    ) AS line
) AS marks
WHERE newest.created_at IS NOT NULL
   OR NOT EXISTS (SELECT FROM gradebook_mark AS mark
                  WHERE mark.sheet_id = sheet.id AND (mark.version > 1 OR mark.changed_xid <> pg_current_xact_id()))
