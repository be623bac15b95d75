-- Note which exam's results go to a column: a mark that was posted names the result's event as its cause. One mark a column is asked,
-- because the link never changes.
-- Locks: none but the rows it writes; the consumer's own row is locked by the caller, so nobody else writes here.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event, the unique event_id for each cause.
-- Parameters: first and last bigint; listed bigint[], the positions, or NULL for all from first to last.
WITH posted AS MATERIALIZED (
    SELECT DISTINCT ON (event.payload ->> 'column_id')
           (event.payload ->> 'column_id')::uuid AS column_id, event.cause_id
    FROM outbox_eventposition AS position
    JOIN outbox_event AS event ON event.seq = position.seq
    WHERE position.pos BETWEEN %(first)s AND %(last)s
      AND (%(listed)s::bigint[] IS NULL OR position.pos = ANY (%(listed)s::bigint[]))
      AND event.kind = 'MarkChanged' AND event.cause_id IS NOT NULL
      AND event.payload ->> 'reason' IN ('posted', 'kept_beside')
    ORDER BY event.payload ->> 'column_id', position.pos
)
INSERT INTO {projections_columnexam} (column_id, exam_id)
SELECT posted.column_id, (cause.payload ->> 'exam_id')::uuid
FROM posted
JOIN outbox_event AS cause ON cause.event_id = posted.cause_id
WHERE cause.kind = 'SubmissionGraded'
ON CONFLICT (column_id) DO NOTHING
