-- Write new contents over locked marks. The time and the transaction of a change are the database's; the time is that of
-- the last change a person can see, so a version that shows nothing new (shown_version < version) keeps the old one.
-- Locks: none new; the caller holds the rows (lock_cells).
-- Index: the primary key, one probe a cell.
-- Parameters: cells json, an array of {id, value, code, source, automatic_value, automatic_at, version, shown_version,
--             updated_by_id}.
UPDATE gradebook_mark AS mark
SET value = cell.value,
    code = cell.code,
    source = cell.source,
    automatic_value = cell.automatic_value,
    automatic_at = cell.automatic_at,
    version = cell.version,
    shown_version = cell.shown_version,
    updated_at = CASE WHEN cell.shown_version = cell.version THEN statement_timestamp() ELSE mark.updated_at END,
    updated_by_id = cell.updated_by_id,
    changed_xid = pg_current_xact_id()
FROM json_to_recordset(%(cells)s::json)
    AS cell (id uuid, value numeric, code text, source text, automatic_value numeric, automatic_at timestamptz,
             version integer, shown_version integer, updated_by_id uuid)
WHERE mark.id = cell.id
RETURNING mark.id, mark.updated_at;
