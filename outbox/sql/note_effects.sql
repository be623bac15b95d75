-- Write down that effects are to happen. One that is known already, perhaps done by now, stays as it is.
-- Locks: its own rows; waits for whoever is noting the same effect.
-- Index: one_receipt_per_effect.
-- Parameters: event_ids uuid[], effects text[], targets text[], positions bigint[], of one length; seconds double precision
--   until its message has to be sent again.
INSERT INTO outbox_effectreceipt (event_id, effect, target, pos, resend_at)
SELECT wanted.event_id, wanted.effect, wanted.target, wanted.pos,
       clock_timestamp() + make_interval(secs => %(seconds)s)
FROM unnest(%(event_ids)s::uuid[], %(effects)s::text[], %(targets)s::text[], %(positions)s::bigint[])
    AS wanted (event_id, effect, target, pos)
ON CONFLICT (event_id, effect, target) DO NOTHING
