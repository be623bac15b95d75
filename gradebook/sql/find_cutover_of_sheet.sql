-- Return the cut-over's phase (0: there is none), and whether a sheet has copies.
-- Locks: none.
-- Index: snapshots_walk_idx.
-- Parameters: sheet uuid.
SELECT COALESCE((SELECT cutover.phase FROM gradebook_cutover AS cutover), 0),
       EXISTS (SELECT FROM gradebook_marksnapshot AS copy WHERE copy.sheet_id = %(sheet)s);
