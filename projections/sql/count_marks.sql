-- Take the marks that changed in a batch or a span into their columns' counts: of each cell the newest change counts, and what the cell
-- contributed before is taken out. A change that is older than the one a cell has met is passed over, so a repeat counts nothing.
-- And note which exam's results go to a column: a mark that was posted names the result's event as its cause. One mark a column is asked,
-- because the link never changes.
-- What every change says is read, also of those that do not count: one that cannot be read fails, in whatever company it comes.
-- A count may be 0 afterwards: `delete_empty_counts` comes next.
-- Locks: none but the rows it writes; the consumer's own row is locked by the caller, so nobody else writes here, and what `seen` finds
--   missing is missing when it is inserted.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for the events, the unique event_id for each cause, the primary keys of
--   the three tables.
-- Parameters: first and last bigint; listed bigint[], the positions, or NULL for all from first to last;
--   first_seq and last_seq bigint, between which their events lie, or NULL for a few events.
WITH said AS MATERIALIZED (
    SELECT position.pos, (event.payload ->> 'column_id')::uuid AS column_id,
           (event.payload ->> 'student_id')::uuid AS student_id,
           (event.payload -> 'new' ->> 'value')::numeric(9, 3) AS value, -- as the tables keep it: what is equal there is counted as one
           COALESCE(event.payload -> 'new' ->> 'code', '') AS code,
           CASE WHEN event.payload ->> 'reason' IN ('posted', 'kept_beside') THEN event.cause_id END AS posted_by
    FROM outbox_eventposition AS position
    JOIN outbox_event AS event ON event.seq = position.seq
    WHERE position.pos BETWEEN %(first)s AND %(last)s
      AND (%(listed)s::bigint[] IS NULL OR position.pos = ANY (%(listed)s::bigint[]))
      AND (%(first_seq)s::bigint IS NULL OR event.seq BETWEEN %(first_seq)s AND %(last_seq)s)
      AND event.kind = 'MarkChanged'
), posted AS MATERIALIZED (
    SELECT DISTINCT ON (said.column_id) said.column_id, said.posted_by
    FROM said
    WHERE said.posted_by IS NOT NULL
    ORDER BY said.column_id, said.pos
), linked AS (
    INSERT INTO {projections_columnexam} (column_id, exam_id)
    SELECT posted.column_id, (cause.payload ->> 'exam_id')::uuid
    FROM posted
    JOIN outbox_event AS cause ON cause.event_id = posted.posted_by
    WHERE cause.kind = 'SubmissionGraded'
    ON CONFLICT (column_id) DO NOTHING
), newest AS MATERIALIZED (
    SELECT DISTINCT ON (said.column_id, said.student_id) said.*
    FROM said
    ORDER BY said.column_id, said.student_id, said.pos DESC
), seen AS MATERIALIZED (
    SELECT newest.*, mark.pos AS old_pos, mark.value AS old_value, mark.code AS old_code
    FROM newest
    LEFT JOIN {projections_analyticsmark} AS mark USING (column_id, student_id)
    WHERE mark.pos IS NULL OR mark.pos < newest.pos
), added AS (
    INSERT INTO {projections_analyticsmark} (column_id, student_id, pos, value, code)
    SELECT seen.column_id, seen.student_id, seen.pos, seen.value, seen.code
    FROM seen
    WHERE seen.old_pos IS NULL
), changed AS (
    UPDATE {projections_analyticsmark} AS mark
    SET pos = seen.pos, value = seen.value, code = seen.code
    FROM seen
    WHERE seen.old_pos IS NOT NULL AND mark.column_id = seen.column_id AND mark.student_id = seen.student_id
), moved AS (
    SELECT seen.column_id, seen.code, seen.value, 1 AS change FROM seen
    UNION ALL
    SELECT seen.column_id, seen.old_code, seen.old_value, -1 FROM seen WHERE seen.old_pos IS NOT NULL
)
INSERT INTO {projections_columncount} AS counted (column_id, code, value, number)
SELECT moved.column_id, moved.code, COALESCE(moved.value, 0), sum(moved.change)
FROM moved
WHERE moved.value IS NOT NULL OR moved.code <> ''
GROUP BY 1, 2, 3
HAVING sum(moved.change) <> 0
ON CONFLICT (column_id, code, value) DO UPDATE SET number = counted.number + excluded.number
