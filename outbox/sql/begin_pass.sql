-- Begin a sequencer's pass: settings for this transaction only, and whether another pass is already at work.
-- Locks: the sequencer's advisory lock until the end of the transaction, tried, never waited for. It only saves work:
--   the fence is the key of the tick.
-- Index: none.
-- Parameters: namespace integer, shard integer (the lock's two halves), idle text (how long a frozen pass may hold on).
SELECT pg_try_advisory_xact_lock(%(namespace)s, %(shard)s),
       set_config('jit', 'off', true), -- compiling cost 73 ms a pass once the planner guessed badly
       set_config('work_mem', '64MB', true), -- a large backlog is sorted in memory
       set_config('synchronous_commit', 'local', true), -- positions sit behind their events in the same WAL
       set_config('idle_in_transaction_session_timeout', %(idle)s, true)
