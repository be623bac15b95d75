-- Take the results that changed in a batch into their exams' counts and sums: of each attempt the newest event counts, and what the
-- attempt contributed before is taken out. Only a complete result counts, and none of an attempt that was opened again. An event that
-- is older than the one an attempt has met is passed over, so a repeat counts nothing.
-- Version 1 of a result says nothing of questions and classes: its score counts, for everybody.
-- Counts may be 0 afterwards: `delete_empty_counts` comes next.
-- Locks: none but the rows it writes; the consumer's own row is locked by the caller, so nobody else writes here.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event, the primary keys of the three tables.
-- Parameters: first and last bigint; listed bigint[], the positions, or NULL for all from first to last;
--   first_seq and last_seq bigint, between which their events lie, or NULL for a few events.
WITH newest AS MATERIALIZED (
    SELECT DISTINCT ON (event.subject)
           position.pos, (event.payload ->> 'attempt_id')::uuid AS attempt_id,
           (event.payload ->> 'exam_id')::uuid AS exam_id,
           CASE WHEN event.payload ->> 'state' = 'graded' THEN (event.payload ->> 'score')::numeric END AS score,
           (event.payload ->> 'max_points')::numeric AS max_points, (event.payload ->> 'revision')::integer AS revision,
           ARRAY(SELECT (class.said ->> 'id')::uuid
                 FROM jsonb_array_elements(COALESCE(event.payload -> 'classes', '[]')) AS class (said) ORDER BY 1) AS classes,
           ARRAY(SELECT question.said::numeric
                 FROM jsonb_array_elements_text(COALESCE(event.payload -> 'points', '[]'))
                     WITH ORDINALITY AS question (said, place) ORDER BY question.place) AS points,
           ARRAY(SELECT question.said::numeric
                 FROM jsonb_array_elements_text(COALESCE(event.payload -> 'out_of', '[]'))
                     WITH ORDINALITY AS question (said, place) ORDER BY question.place) AS out_of
    FROM outbox_eventposition AS position
    JOIN outbox_event AS event ON event.seq = position.seq
    WHERE position.pos BETWEEN %(first)s AND %(last)s
      AND (%(listed)s::bigint[] IS NULL OR position.pos = ANY (%(listed)s::bigint[]))
      AND (%(first_seq)s::bigint IS NULL OR event.seq BETWEEN %(first_seq)s AND %(last_seq)s)
      AND event.kind IN ('SubmissionGraded', 'AttemptReopened')
    ORDER BY event.subject, position.pos DESC
), before AS ( -- as this statement found it, whatever `now` writes
    SELECT result.*
    FROM newest
    JOIN {projections_analyticsresult} AS result USING (attempt_id)
), now AS (
    INSERT INTO {projections_analyticsresult} AS result
        (attempt_id, exam_id, pos, classes, score, max_points, revision, points, out_of)
    SELECT newest.attempt_id, newest.exam_id, newest.pos, newest.classes, newest.score, newest.max_points, newest.revision,
           newest.points, newest.out_of
    FROM newest
    ON CONFLICT (attempt_id) DO UPDATE
        SET pos = excluded.pos, classes = excluded.classes, score = excluded.score, max_points = excluded.max_points,
            revision = excluded.revision, points = excluded.points, out_of = excluded.out_of
        WHERE result.pos < excluded.pos
    RETURNING result.*
), moved AS (
    SELECT now.*, 1 AS change FROM now
    UNION ALL
    SELECT before.*, -1 FROM before JOIN now USING (attempt_id)
), grouped AS MATERIALIZED (
    SELECT moved.*, of_group.id AS group_id
    FROM moved
    CROSS JOIN LATERAL unnest(moved.classes || moved.exam_id) AS of_group (id)
    WHERE moved.score IS NOT NULL
), counted AS (
    INSERT INTO {projections_scorecount} AS counted (exam_id, group_id, max_points, score, number)
    SELECT grouped.exam_id, grouped.group_id, grouped.max_points, grouped.score, sum(grouped.change)
    FROM grouped
    GROUP BY 1, 2, 3, 4
    HAVING sum(grouped.change) <> 0
    ON CONFLICT (exam_id, group_id, max_points, score) DO UPDATE SET number = counted.number + excluded.number
)
INSERT INTO {projections_itemsum} AS summed
    (exam_id, group_id, revision, place, out_of, number, x, xx, xt, t, tt)
SELECT grouped.exam_id, grouped.group_id, grouped.revision, question.place, question.out_of, sum(grouped.change),
       sum(grouped.change * question.x), sum(grouped.change * question.x * question.x),
       sum(grouped.change * question.x * grouped.score), sum(grouped.change * grouped.score),
       sum(grouped.change * grouped.score * grouped.score)
FROM grouped
CROSS JOIN LATERAL unnest(grouped.points, grouped.out_of) WITH ORDINALITY AS question (x, out_of, place)
GROUP BY 1, 2, 3, 4, 5
ON CONFLICT (exam_id, group_id, revision, place, out_of) DO UPDATE
    SET number = summed.number + excluded.number, x = summed.x + excluded.x, xx = summed.xx + excluded.xx,
        xt = summed.xt + excluded.xt, t = summed.t + excluded.t, tt = summed.tt + excluded.tt
