-- List the next ticks to verify, until they hold about as many positions as asked for; at least one.
-- Locks: none.
-- Index: outbox_tick_pkey.
-- Parameters: after bigint (a tick, exclusive), positions bigint.
SELECT tick.tick_id, tick.first_pos, tick.last_pos
FROM (
    SELECT tick.tick_id, tick.first_pos, tick.last_pos,
           sum(tick.last_pos - tick.first_pos + 1) OVER (ORDER BY tick.tick_id)
               - (tick.last_pos - tick.first_pos + 1) AS before
    FROM (SELECT each.* FROM outbox_tick AS each WHERE each.tick_id > %(after)s ORDER BY each.tick_id LIMIT 1000) AS tick
) AS tick
WHERE tick.before < %(positions)s
ORDER BY tick.tick_id
