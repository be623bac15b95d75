-- Write copies that come from a file; one that is here already stays as it is.
-- Locks: its own rows.
-- Index: the primary key.
-- Parameters: copies json, an array of {id, school_id, sheet_id, action, created_at, created_by_id, created_by_name, layout, cells}, the last
--   two as text, so that they are parsed once.
INSERT INTO gradebook_marksnapshot
    (id, school_id, sheet_id, action, created_at, created_by_id, created_by_name, batch_id, layout, cells)
SELECT copy.id, copy.school_id, copy.sheet_id, copy.action, copy.created_at, copy.created_by_id, copy.created_by_name, NULL,
       copy.layout::jsonb, copy.cells::jsonb
FROM json_to_recordset(%(copies)s::json)
    AS copy (id uuid, school_id uuid, sheet_id uuid, action text, created_at timestamptz, created_by_id uuid, created_by_name text,
             layout text, cells text)
ON CONFLICT (id) DO NOTHING
