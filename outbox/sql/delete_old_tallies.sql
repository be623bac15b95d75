-- Forget the counts of minutes long ago.
-- Locks: the rows it deletes.
-- Index: outbox_queuetally_pkey, from its lower end.
-- Parameters: days double precision.
DELETE FROM outbox_queuetally AS tally
WHERE tally.minute < statement_timestamp() - %(days)s * interval '1 day';
