-- Write one history line for each MarkChanged event of a batch; a line that is there already stays.
-- Locks: none but the rows it inserts; the consumer's own row is locked by the caller.
-- The range of the batch is said too: with the list alone the planner reads the position of every event there is.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event.
-- Parameters: first and last bigint; listed bigint[], the positions, or NULL where the batch has all from first to last;
--   {projections_markhistory} is the table to fill, live or twin.
INSERT INTO {projections_markhistory}
    (pos, event_id, school_id, sheet_id, column_id, student_id, cell_version, column_title, student_name,
     old_value, old_code, old_source, new_value, new_code, new_source, automatic_value,
     reason, actor_type, actor_id, actor_name, batch_id, occurred_at)
SELECT position.pos, event.event_id, fact.school_id, fact.sheet_id, fact.column_id, fact.student_id,
       event.subject_version, fact.column_title, fact.student_name,
       (fact.old ->> 'value')::numeric, COALESCE(fact.old ->> 'code', ''), COALESCE(fact.old ->> 'source', ''),
       (fact.new ->> 'value')::numeric, COALESCE(fact.new ->> 'code', ''), COALESCE(fact.new ->> 'source', ''),
       fact.automatic_value, fact.reason, event.actor_type, event.actor_id, fact.actor_name,
       event.batch_id, event.occurred_at
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
CROSS JOIN LATERAL jsonb_to_record(event.payload) AS fact (
    school_id uuid, sheet_id uuid, column_id uuid, student_id uuid, column_title text, student_name text,
    actor_name text, old jsonb, new jsonb, automatic_value numeric, reason text)
WHERE position.pos BETWEEN %(first)s AND %(last)s
  AND (%(listed)s::bigint[] IS NULL OR position.pos = ANY (%(listed)s::bigint[]))
ON CONFLICT DO NOTHING
