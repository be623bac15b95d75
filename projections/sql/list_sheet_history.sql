-- Return the newest lines of one sheet's history before a place (NULL: from the newest on), of both eras, newest first. All columns, in the
-- order of the model: written out, because the ORM would take longer to put this statement together than PostgreSQL takes to answer it.
-- Locks: none.
-- Index: history_sheet_idx and one_backfilled_mark_per_place, merged; one range each.
-- Parameters: sheet uuid, before bigint or NULL, size int.
SELECT history.event_id, history.pos, history.school_id, history.sheet_id, history.column_id, history.student_id, history.cell_version,
       history.column_title, history.student_name, history.old_value, history.old_code, history.old_source,
       history.new_value, history.new_code, history.new_source, history.automatic_value,
       history.reason, history.origin, history.actor_type, history.actor_id, history.actor_name, history.batch_id, history.occurred_at
FROM projections_wholehistory AS history
WHERE history.sheet_id = %(sheet)s
  AND history.pos < COALESCE(%(before)s::bigint, 9223372036854775807)
ORDER BY history.pos DESC
LIMIT %(size)s;
