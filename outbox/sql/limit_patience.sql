-- Bound the waiting and idling of the transaction at hand.
-- Locks: none.
-- Index: none.
-- Parameters: limit text, a time with its unit.
SELECT set_config('lock_timeout', %(limit)s, true), set_config('idle_in_transaction_session_timeout', %(limit)s, true);
