-- Hold terms against whoever would lock them, until the transaction ends. Writers do not disturb each other.
-- Locks: the shared advisory lock of each term, in the order of their keys. A lock of rows would make a multixact for each pair of savers.
-- Index: none.
-- Parameters: namespace integer, terms uuid[].
SELECT pg_advisory_xact_lock_shared(%(namespace)s, term.key)
FROM (
    SELECT DISTINCT hashtext(named.id::text) AS key
    FROM unnest(%(terms)s::uuid[]) AS named (id)
    ORDER BY key
) AS term;
