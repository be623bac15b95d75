-- Read a mark sheet as it was at a position: of each cell the last change up to there. Both eras of history are one list.
-- It goes from cell to cell along the index, and in each straight to the one line: what it costs follows the number of cells, not how
-- much history they have.
-- Locks: none. Index: history_cell_idx and backfilled_cell_idx, for the next cell and for its line.
-- Parameters: sheet uuid; pos bigint, the last position that counts.
WITH RECURSIVE cell AS (
    (SELECT line.column_id, line.student_id
     FROM projections_wholehistory AS line
     WHERE line.sheet_id = %(sheet)s
     ORDER BY line.column_id, line.student_id
     LIMIT 1)
    UNION ALL
    SELECT following.column_id, following.student_id
    FROM cell
    CROSS JOIN LATERAL (
        SELECT line.column_id, line.student_id
        FROM projections_wholehistory AS line
        WHERE line.sheet_id = %(sheet)s AND (line.column_id, line.student_id) > (cell.column_id, cell.student_id)
        ORDER BY line.column_id, line.student_id
        LIMIT 1) AS following
)
SELECT last.*
FROM cell
CROSS JOIN LATERAL (
    SELECT line.*
    FROM projections_wholehistory AS line
    WHERE line.sheet_id = %(sheet)s AND line.column_id = cell.column_id AND line.student_id = cell.student_id
      AND line.pos <= %(pos)s
    ORDER BY line.pos DESC
    LIMIT 1) AS last
