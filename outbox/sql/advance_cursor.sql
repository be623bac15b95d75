-- Move a consumer's cursor from where its batch began, in that batch's transaction. No row: the cursor is not there any more.
-- A rebuild ends when its cursor meets the head.
-- Locks: the row, held already.
-- Index: outbox_consumer_pkey.
-- Parameters: name, epoch, generation, after (what the batch began with), upto, at_head boolean,
--   failing_pos bigint or null, failing_tries integer, failing_error text.
UPDATE outbox_consumer AS consumer
SET position = %(upto)s,
    state = CASE WHEN %(at_head)s AND consumer.state = 'rebuilding' THEN 'running' ELSE consumer.state END,
    is_filling = consumer.is_filling AND NOT %(at_head)s,
    heartbeat_at = clock_timestamp(),
    advanced_at = CASE WHEN %(upto)s > consumer.position THEN clock_timestamp() ELSE consumer.advanced_at END,
    failing_pos = %(failing_pos)s, failing_tries = %(failing_tries)s, failing_error = %(failing_error)s
WHERE consumer.name = %(name)s AND consumer.epoch = %(epoch)s
  AND consumer.generation = %(generation)s AND consumer.position = %(after)s
