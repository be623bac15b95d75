-- Write one history line for each MarkChanged event of a batch; a line that is there already stays (while following), or is an
-- error (while an emptied table is filled, where there can be none, and asking costs a tenth).
-- A mark taken over from the old system is no change: its line comes from the copies (projections/backfill).
-- Locks: none but the rows it inserts; the consumer's own row is locked by the caller.
-- The range of the batch is said too: with the list alone the planner reads the position of every event there is.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event.
-- Parameters: first and last bigint; listed bigint[], the positions, or NULL for all from first to last;
--   first_seq and last_seq bigint, between which their events lie, or NULL for a few events; kinds text[], or NULL where the
--   positions were chosen by kind; {projections_markhistory} is the table to fill, live or twin.
INSERT INTO {projections_markhistory}
    (pos, event_id, school_id, sheet_id, column_id, student_id, cell_version, column_title, student_name,
     old_value, old_code, old_source, new_value, new_code, new_source, automatic_value,
     reason, origin, actor_type, actor_id, actor_name, batch_id, occurred_at)
SELECT position.pos, event.event_id,
       (event.payload ->> 'school_id')::uuid, (event.payload ->> 'sheet_id')::uuid,
       (event.payload ->> 'column_id')::uuid, (event.payload ->> 'student_id')::uuid,
       event.subject_version, event.payload ->> 'column_title', event.payload ->> 'student_name',
       (event.payload -> 'old' ->> 'value')::numeric,
       COALESCE(event.payload -> 'old' ->> 'code', ''), COALESCE(event.payload -> 'old' ->> 'source', ''),
       (event.payload -> 'new' ->> 'value')::numeric,
       COALESCE(event.payload -> 'new' ->> 'code', ''), COALESCE(event.payload -> 'new' ->> 'source', ''),
       (event.payload ->> 'automatic_value')::numeric, event.payload ->> 'reason',
       COALESCE(event.payload ->> 'origin', ''), -- of version 2, and there only where a file is the origin
       event.actor_type, event.actor_id, event.payload ->> 'actor_name', event.batch_id, event.occurred_at
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos BETWEEN %(first)s AND %(last)s
  AND (%(listed)s::bigint[] IS NULL OR position.pos = ANY (%(listed)s::bigint[]))
  AND (%(first_seq)s::bigint IS NULL OR event.seq BETWEEN %(first_seq)s AND %(last_seq)s)
  AND (%(kinds)s::text[] IS NULL OR event.kind = ANY (%(kinds)s::text[]))
  AND event.payload ->> 'reason' <> 'carried_over'
{on_repeat}
