-- Propose results that came after their term was locked. Of one that waits already only the latest result counts.
-- Locks: the new and the waiting proposals, in order of cell.
-- Index: one_open_amendment_per_cell_and_source.
-- Parameters: proposals json, an array of {id, period_id, sheet_id, column_id, student_id, old_value, old_code, old_version, value,
--             automatic_at, cause_id}; reason text.
INSERT INTO gradebook_amendment AS waiting
    (id, period_id, sheet_id, column_id, student_id, old_value, old_code, old_version, value, code, reason,
     source, automatic_at, cause_id, state, proposed_at, note)
SELECT late.id, late.period_id, late.sheet_id, late.column_id, late.student_id, late.old_value, late.old_code, late.old_version,
       late.value, '', %(reason)s, 'automatic', late.automatic_at, late.cause_id, 'proposed', statement_timestamp(), ''
FROM json_to_recordset(%(proposals)s::json)
    AS late (id uuid, period_id uuid, sheet_id uuid, column_id uuid, student_id uuid, old_value numeric, old_code text,
             old_version integer, value numeric, automatic_at timestamptz, cause_id uuid)
ORDER BY late.column_id, late.student_id
ON CONFLICT (column_id, student_id, source) WHERE state = 'proposed' DO UPDATE
SET value = excluded.value,
    automatic_at = excluded.automatic_at,
    cause_id = excluded.cause_id,
    old_value = excluded.old_value,
    old_code = excluded.old_code,
    old_version = excluded.old_version
WHERE excluded.automatic_at > waiting.automatic_at;
