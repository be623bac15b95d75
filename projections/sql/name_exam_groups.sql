-- Keep what exams, and the classes that sat them, were called last; an older name than the one that is kept is passed over.
-- Locks: none but the rows it writes; the consumer's own row is locked by the caller, so nobody else writes here.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event, projections_examgroup_pkey.
-- Parameters: first and last bigint; listed bigint[], the positions, or NULL for all from first to last;
--   first_seq and last_seq bigint, between which their events lie, or NULL for a few events.
WITH said AS (
    SELECT position.pos, (event.payload ->> 'exam_id')::uuid AS exam_id, event.payload
    FROM outbox_eventposition AS position
    JOIN outbox_event AS event ON event.seq = position.seq
    WHERE position.pos BETWEEN %(first)s AND %(last)s
      AND (%(listed)s::bigint[] IS NULL OR position.pos = ANY (%(listed)s::bigint[]))
      AND (%(first_seq)s::bigint IS NULL OR event.seq BETWEEN %(first_seq)s AND %(last_seq)s)
      AND event.kind IN ('SubmissionGraded', 'ExamPublished')
), named AS (
    SELECT said.pos, said.exam_id, said.exam_id AS group_id, said.payload ->> 'title' AS name
    FROM said
    WHERE said.payload ? 'title'
    UNION ALL
    SELECT said.pos, said.exam_id, (class.said ->> 'id')::uuid, class.said ->> 'name'
    FROM said
    CROSS JOIN LATERAL jsonb_array_elements(COALESCE(said.payload -> 'classes', '[]')) AS class (said)
)
INSERT INTO {projections_examgroup} AS kept (exam_id, group_id, pos, name)
SELECT DISTINCT ON (named.exam_id, named.group_id) named.exam_id, named.group_id, named.pos, named.name
FROM named
ORDER BY named.exam_id, named.group_id, named.pos DESC
ON CONFLICT (exam_id, group_id) DO UPDATE SET pos = excluded.pos, name = excluded.name WHERE kept.pos < excluded.pos
