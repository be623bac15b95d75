-- Digest everything that the gates of the cut-over compare of one mark sheet: how many copies it has and which is the newest (a copy never
-- changes, so that is all of them), its marks with their versions (the version counts a cell's events, which never change either), its
-- lines of history in both eras, how far its copies are backfilled, and since when the cut-over runs.
-- Whatever is added to, or changed in, or taken from one of these gives another digest.
-- Locks: none. Index: snapshots_walk_idx, one_mark_per_cell by its sheet, history_sheet_idx, one_backfilled_mark_per_place.
-- Parameters: sheet uuid.
SELECT md5(concat_ws('|',
    (SELECT count(*) FROM gradebook_marksnapshot AS copy WHERE copy.sheet_id = %(sheet)s),
    (SELECT copy.id FROM gradebook_marksnapshot AS copy WHERE copy.sheet_id = %(sheet)s
     ORDER BY copy.created_at DESC, copy.id DESC LIMIT 1),
    (SELECT md5(string_agg(ROW(mark.column_id, mark.student_id, mark.value, mark.code, mark.source, mark.version)::text, ''
                           ORDER BY mark.column_id, mark.student_id))
     FROM gradebook_mark AS mark WHERE mark.sheet_id = %(sheet)s),
    (SELECT md5(string_agg(line::text, '' ORDER BY line.pos))
     FROM projections_wholehistory AS line WHERE line.sheet_id = %(sheet)s),
    (SELECT ROW(checkpoint.copies, checkpoint.is_complete)::text
     FROM projections_backfillcheckpoint AS checkpoint WHERE checkpoint.sheet_id = %(sheet)s),
    (SELECT cutover.started_at FROM gradebook_cutover AS cutover)))
