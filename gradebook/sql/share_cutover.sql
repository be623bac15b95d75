-- Return the cut-over's phase (0: there is none) and keep it from being moved until the transaction ends.
-- A function, because the phase has to be read after the lock was got, not by the snapshot the statement began with.
-- Locks: the cut-over's advisory lock, shared.
-- Index: none; the table has one row.
-- Parameters: namespace integer, cutover integer.
SELECT gradebook_share_cutover(%(namespace)s, %(cutover)s);
