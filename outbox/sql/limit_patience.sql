-- Bound the waiting and idling of the transaction at hand. And wait for this server's disk only, not for standbys: effects and the job's
-- end stand in the log behind the submission, so whichever server goes on has all of it, or has the job again (ADR 0013).
-- Locks: none.
-- Index: none.
-- Parameters: limit text, a time with its unit.
SELECT set_config('synchronous_commit', 'local', true),
       set_config('lock_timeout', %(limit)s, true),
       set_config('idle_in_transaction_session_timeout', %(limit)s, true);
