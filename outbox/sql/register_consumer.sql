-- Make a consumer's row at its first run, at the beginning of the log; take over a changed staleness budget.
-- Locks: its row.
-- Index: outbox_consumer_pkey, outbox_tick_pkey backwards.
-- Parameters: name text, budget double precision (seconds).
INSERT INTO outbox_consumer AS consumer (name, epoch, staleness_budget)
SELECT %(name)s, COALESCE((SELECT tick.epoch FROM outbox_tick AS tick ORDER BY tick.tick_id DESC LIMIT 1), 0),
       make_interval(secs => %(budget)s)
ON CONFLICT (name) DO UPDATE SET staleness_budget = excluded.staleness_budget
WHERE consumer.staleness_budget <> excluded.staleness_budget
