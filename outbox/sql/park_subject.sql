-- Park the subject of an event that failed too often; the event is the first that waits there.
-- Locks: its own rows; the consumer's row is held.
-- Index: outbox_eventposition_pkey, outbox_event_pkey.
-- Parameters: name text, pos bigint, error text, tries integer.
WITH parked AS (
    INSERT INTO outbox_parkedsubject (consumer_id, subject, error, tries)
    SELECT %(name)s, event.subject, %(error)s, %(tries)s
    FROM outbox_eventposition AS position
    JOIN outbox_event AS event ON event.seq = position.seq
    WHERE position.pos = %(pos)s
    RETURNING id, subject
), waiting AS (
    INSERT INTO outbox_parkedevent (parked_subject_id, pos)
    SELECT parked.id, %(pos)s FROM parked
)
SELECT parked.subject FROM parked
