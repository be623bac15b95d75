-- Take the marks that changed in a batch into their columns' counts: of each cell the newest change counts, and what the cell
-- contributed before is taken out. A change that is older than the one a cell has met is passed over, so a repeat counts nothing.
-- A count may be 0 afterwards: `delete_empty_counts` comes next.
-- Locks: none but the rows it writes; the consumer's own row is locked by the caller, so nobody else writes here.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event, the primary keys of both tables.
-- Parameters: first and last bigint; listed bigint[], the positions, or NULL for all from first to last.
WITH newest AS MATERIALIZED (
    SELECT DISTINCT ON (event.subject)
           position.pos, (event.payload ->> 'column_id')::uuid AS column_id,
           (event.payload ->> 'student_id')::uuid AS student_id,
           (event.payload -> 'new' ->> 'value')::numeric AS value,
           COALESCE(event.payload -> 'new' ->> 'code', '') AS code
    FROM outbox_eventposition AS position
    JOIN outbox_event AS event ON event.seq = position.seq
    WHERE position.pos BETWEEN %(first)s AND %(last)s
      AND (%(listed)s::bigint[] IS NULL OR position.pos = ANY (%(listed)s::bigint[]))
      AND event.kind = 'MarkChanged'
    ORDER BY event.subject, position.pos DESC
), before AS ( -- as this statement found it, whatever `now` writes
    SELECT mark.column_id, mark.student_id, mark.code, mark.value
    FROM newest
    JOIN {projections_analyticsmark} AS mark USING (column_id, student_id)
), now AS (
    INSERT INTO {projections_analyticsmark} AS mark (column_id, student_id, pos, value, code)
    SELECT newest.column_id, newest.student_id, newest.pos, newest.value, newest.code FROM newest
    ON CONFLICT (column_id, student_id) DO UPDATE
        SET pos = excluded.pos, value = excluded.value, code = excluded.code
        WHERE mark.pos < excluded.pos
    RETURNING mark.column_id, mark.student_id, mark.code, mark.value
), moved AS (
    SELECT now.column_id, now.code, now.value, 1 AS change FROM now
    UNION ALL
    SELECT before.column_id, before.code, before.value, -1 FROM before JOIN now USING (column_id, student_id)
)
INSERT INTO {projections_columncount} AS counted (column_id, code, value, number)
SELECT moved.column_id, moved.code, COALESCE(moved.value, 0), sum(moved.change)
FROM moved
WHERE moved.value IS NOT NULL OR moved.code <> ''
GROUP BY 1, 2, 3
HAVING sum(moved.change) <> 0
ON CONFLICT (column_id, code, value) DO UPDATE SET number = counted.number + excluded.number
