-- Write new contents over locked marks. The time and the transaction of a change are the database's; the time is that of
-- the last change a person can see, so a version that shows nothing new (shown_version < version) keeps the old one.
-- A function (migration 0010), because its plan is kept.
-- Locks: none new; the caller holds the rows (lock_cells).
-- Index: the primary key, one probe a cell.
-- Parameters: cells json, an array of {id, value, code, source, automatic_value, automatic_at, version, shown_version,
--             updated_by_id}.
SELECT id, updated_at FROM gradebook_write_cells(%(cells)s::json);
