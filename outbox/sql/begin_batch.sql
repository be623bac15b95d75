-- Settings for one batch's transaction, gone with it (so that a transaction pooler between us and the server does no harm).
-- Locks: none. Index: none.
-- Parameters: durability text (local, or off while rebuilding: cursor and rows stand in the same WAL and are lost together),
--   idle text (how long a frozen instance may hold the consumer's row).
SELECT set_config('jit', 'off', true),
       set_config('synchronous_commit', %(durability)s, true),
       set_config('idle_in_transaction_session_timeout', %(idle)s, true)
