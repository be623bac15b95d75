-- List the newest saves of a mark sheet that changed several cells at once, an import for example, each with the positions it reaches over.
-- Locks: none. Index: history_sheet_idx and one_backfilled_mark_per_place, a range of bounded length.
-- Parameters: sheet uuid; look_at integer, how many of the newest lines are looked at; least integer, how many cells are several;
--   limit integer.
SELECT min(line.pos), max(line.pos), count(*), min(line.occurred_at), min(line.actor_name), min(line.actor_type),
       min(line.reason)
FROM (
    SELECT recent.pos, recent.occurred_at, recent.actor_name, recent.actor_type, recent.reason, recent.batch_id
    FROM projections_wholehistory AS recent
    WHERE recent.sheet_id = %(sheet)s
    ORDER BY recent.pos DESC
    LIMIT %(look_at)s) AS line
WHERE line.batch_id IS NOT NULL
GROUP BY line.batch_id
HAVING count(*) >= %(least)s
ORDER BY max(line.pos) DESC
LIMIT %(limit)s
