-- Empty a projection's tables, in the transaction that also sets its cursor to 0.
-- Locks: ACCESS EXCLUSIVE on each, so it waits for readers and they for it; lock_timeout bounds that.
-- Index: none.
-- Parameters: {tables}, their names.
TRUNCATE {tables}
