-- Drop a twin that an earlier rebuild of this session left, or that has done its work.
-- Locks: its own. Index: none.
-- Parameters: {twin}, the table's name.
DROP TABLE IF EXISTS {twin}
