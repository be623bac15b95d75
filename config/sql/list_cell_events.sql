-- List what the log says was changed in these cells: the changes a person could see, by the batch they were made in.
-- A mark taken over from the old system is no change, and a result kept beside a teacher's mark is not seen in a copy.
-- Locks: none.
-- Index: one_event_per_subject_version, one range a cell.
-- Parameters: subjects text[]; kind text.
SELECT event.batch_id, (event.payload ->> 'column_id')::uuid, (event.payload ->> 'student_id')::uuid,
       COALESCE(event.payload -> 'old' ->> 'value', event.payload -> 'old' ->> 'code', ''),
       COALESCE(event.payload -> 'new' ->> 'value', event.payload -> 'new' ->> 'code', '')
FROM outbox_event AS event
WHERE event.subject = ANY (%(subjects)s::text[])
  AND event.kind = %(kind)s
  AND event.payload ->> 'reason' NOT IN ('carried_over', 'kept_beside')
