-- Announce that a consumer is about to try this event alone; return how many tries have begun, this one included.
-- Locks: the announcement's row; the consumer's row is held.
-- Index: outbox_announcedevent_pkey.
-- Parameters: consumer text, pos bigint.
INSERT INTO outbox_announcedevent AS announced (consumer, pos, tries)
VALUES (%(consumer)s, %(pos)s, 1)
ON CONFLICT (consumer) DO UPDATE
SET pos = excluded.pos, tries = CASE WHEN announced.pos = excluded.pos THEN announced.tries + 1 ELSE 1 END
RETURNING announced.tries;
