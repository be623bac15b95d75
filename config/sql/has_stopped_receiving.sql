-- Has this standby stopped receiving, and replayed all it has? Its startup process then waits to try again, with nothing to read.
-- Locks: none. Index: none. Parameters: none.
SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'walreceiver')
   AND EXISTS (
        SELECT FROM pg_stat_activity
        WHERE backend_type = 'startup' AND wait_event = 'RecoveryRetrieveRetryInterval');
