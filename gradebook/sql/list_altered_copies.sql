-- List those of these copies that are here already and say something else. Names are left out: they are as of the import.
-- Locks: none.
-- Index: the primary key.
-- Parameters: copies json, as for import_copies.sql.
SELECT stored.id
FROM json_to_recordset(%(copies)s::json) AS copy (id uuid, sheet_id uuid, action text, created_at timestamptz, cells text)
JOIN gradebook_marksnapshot AS stored ON stored.id = copy.id
WHERE (stored.sheet_id, stored.action, stored.created_at, stored.cells)
      IS DISTINCT FROM (copy.sheet_id, copy.action, copy.created_at, copy.cells::jsonb)
