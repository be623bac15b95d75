-- Add what a process counted to its row for this minute.
-- Locks: its own row, which nobody else writes.
-- Index: outbox_queuetally_pkey.
-- Parameters: teller uuid, claims integer[], and an integer for each other column.
INSERT INTO outbox_queuetally AS tally
    (minute, teller, first_tries, retries, finished, retried, snoozed, released, buried, lost, lost_leases, claims)
VALUES (date_trunc('minute', clock_timestamp()), %(teller)s, %(first_tries)s, %(retries)s, %(finished)s, %(retried)s,
        %(snoozed)s, %(released)s, %(buried)s, %(lost)s, %(lost_leases)s, %(claims)s)
ON CONFLICT (minute, teller) DO UPDATE
SET first_tries = tally.first_tries + excluded.first_tries,
    retries = tally.retries + excluded.retries,
    finished = tally.finished + excluded.finished,
    retried = tally.retried + excluded.retried,
    snoozed = tally.snoozed + excluded.snoozed,
    released = tally.released + excluded.released,
    buried = tally.buried + excluded.buried,
    lost = tally.lost + excluded.lost,
    lost_leases = tally.lost_leases + excluded.lost_leases,
    claims = ARRAY(
        SELECT each.before + each.more
        FROM unnest(tally.claims, excluded.claims) WITH ORDINALITY AS each (before, more, place)
        ORDER BY each.place
    );
