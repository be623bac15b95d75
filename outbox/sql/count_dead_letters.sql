-- Count the open dead letters, and say how long the oldest has waited for somebody.
-- Locks: none.
-- Index: dead_letters_open_idx.
-- Parameters: none.
SELECT count(*) AS open, COALESCE(extract(epoch FROM statement_timestamp() - min(letter.died_at)), 0)::float8 AS oldest
FROM outbox_deadletter AS letter
WHERE letter.replayed_at IS NULL;
