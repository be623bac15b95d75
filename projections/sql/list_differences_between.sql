-- List the cells of a mark sheet that show something else at one position than at an earlier one: what was, what is, and the change that
-- made it so. A cell that was changed and changed back is not among them.
-- It reads the changes between the two positions and nothing else, whatever came before or after.
-- Locks: none. Index: history_sheet_idx and one_backfilled_mark_per_place, the range between.
-- Parameters: sheet uuid; after bigint (exclusive); upto bigint (inclusive).
WITH change AS MATERIALIZED (
    SELECT line.*
    FROM projections_wholehistory AS line
    WHERE line.sheet_id = %(sheet)s AND line.pos > %(after)s AND line.pos <= %(upto)s
      AND line.reason <> 'kept_beside' -- which changes nothing that a cell shows
), first AS (
    SELECT DISTINCT ON (change.column_id, change.student_id)
           change.column_id, change.student_id, change.old_value, change.old_code, change.old_source
    FROM change
    ORDER BY change.column_id, change.student_id, change.pos
), last AS (
    SELECT DISTINCT ON (change.column_id, change.student_id) change.*
    FROM change
    ORDER BY change.column_id, change.student_id, change.pos DESC
)
SELECT last.event_id, last.pos, last.school_id, last.sheet_id, last.column_id, last.student_id, last.cell_version,
       last.column_title, last.student_name, first.old_value, first.old_code, first.old_source,
       last.new_value, last.new_code, last.new_source, last.automatic_value,
       last.reason, last.origin, last.actor_type, last.actor_id, last.actor_name, last.batch_id, last.occurred_at
FROM last
JOIN first USING (column_id, student_id)
WHERE (first.old_value, first.old_code) IS DISTINCT FROM (last.new_value, last.new_code)
ORDER BY last.student_name, last.student_id, last.column_id
