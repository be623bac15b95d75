-- A setting for filling one span, gone with its transaction: what the span's statements sort and hash stays in memory.
-- Locks: none. Index: none.
-- Parameters: memory text.
SELECT set_config('work_mem', %(memory)s, true)
